use super::*;

fn public(text: &str) -> bool {
    is_public(text.parse().unwrap())
}

#[test]
fn every_special_range_of_ipv4_is_refused_from_its_first_to_its_last_address() {
    for (first, last) in [
        ("0.0.0.0", "0.255.255.255"),
        ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"),
        ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"),
        ("192.0.2.0", "192.0.2.255"),
        ("192.88.99.0", "192.88.99.255"),
        ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"),
        ("198.51.100.0", "198.51.100.255"),
        ("203.0.113.0", "203.0.113.255"),
        ("224.0.0.0", "239.255.255.255"),
        ("240.0.0.0", "255.255.255.255"),
    ] {
        assert!(!public(first) && !public(last), "{first} to {last}");
    }
}

#[test]
fn the_neighbours_of_the_special_ranges_of_ipv4_are_public() {
    for address in [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
    ] {
        assert!(public(address), "{address}");
    }
}

#[test]
fn every_special_range_of_ipv6_is_refused() {
    for address in [
        "::",
        "::1",
        "::7f00:1", // IPv4-compatible
        "::8.8.8.8",
        "::ffff:127.0.0.1", // IPv4-mapped, whatever is inside
        "::ffff:8.8.8.8",
        "::ffff:0:8.8.8.8",   // IPv4-translated (SIIT)
        "64:ff9b:1::8.8.8.8", // NAT64 by a network's own choice
        "64:ff9b:1:ffff::",
        "64:ff9b::1:8.8.8.8", // beside the well-known prefix
        "100::1",             // discard
        "2001::1",            // Teredo
        "2001:0:4137:9e76::1",
        "2001:2::1",  // benchmarks
        "2001:10::1", // ORCHID
        "2001:20::1",
        "2001:1ff:ffff::1",
        "2001:db8::1",
        "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
        "3fff::1",
        "3fff:fff:ffff::1",
        "4000::1", // not given out
        "5f00::1", // segment routing
        "fc00::1",
        "fd00:ec2::254", // metadata of EC2
        "fdff:ffff::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "feff::1",
        "ff02::1",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ] {
        assert!(!public(address), "{address}");
    }
}

#[test]
fn given_out_addresses_of_ipv6_are_public() {
    for address in [
        "2000::1",
        "2001:200::1",
        "2001:db7:ffff::1",
        "2001:db9::1",
        "2606:4700::1111",
        "2a00:1450::1",
        "3ffe::1",
        "3fff:1000::1",
    ] {
        assert!(public(address), "{address}");
    }
}

#[test]
fn translated_addresses_are_judged_by_the_address_inside() {
    for (inside, is) in [
        ("8.8.8.8", true),
        ("127.0.0.1", false),
        ("10.0.0.1", false),
        ("169.254.169.254", false),
        ("0.0.0.0", false),
        ("255.255.255.255", false),
    ] {
        assert_eq!(public(&format!("64:ff9b::{inside}")), is, "NAT64 {inside}");
        let [a, b, c, d] = inside.parse::<Ipv4Addr>().unwrap().octets();
        let six_to_four = format!("2002:{a:02x}{b:02x}:{c:02x}{d:02x}::1");
        assert_eq!(public(&six_to_four), is, "{six_to_four}");
    }
}
