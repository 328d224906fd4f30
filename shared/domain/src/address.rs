//! Tells public addresses from all others, so that a webhook cannot make us speak to what only we
//! can reach: this host, its metadata service, the private network. The check of a configuration and
//! the guard of every connection go by the same list.
//!
//! The ranges are those of the IANA special-purpose address registries (RFC 6890) that are not
//! globally reachable, and those that are not unicast.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const SPECIAL_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),       // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // shared by carriers
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // this host
    (Ipv4Addr::new(169, 254, 0, 0), 16),  // link-local: instance and task metadata
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // former relays of 6to4
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, and broadcast
];

/// The only range of global unicast addresses that is given out (RFC 4291, section 2.4). What lies
/// outside needs no list: unspecified, loopback, IPv4-mapped and -compatible, unique local,
/// link-local, site-local, multicast, discard.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Exceptions inside [`GLOBAL_V6`].
const SPECIAL_V6: [(Ipv6Addr, u32); 3] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments, Teredo among them
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// The well-known prefix of NAT64 (RFC 6052): where a network has no IPv4 of its own, its DNS gives
/// every IPv4 address in this form, and the gateway connects to the address inside.
const NAT64: (Ipv6Addr, u32) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

/// 6to4 (RFC 3056): the packets go to the IPv4 address inside.
const SIX_TO_FOUR: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16);

/// Whether an address belongs to the public internet. Addresses that carry an IPv4 address which
/// is really connected to are judged by that one.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) if within_v6(v6, NAT64) => is_public_v4(embedded(v6, 12)),
        IpAddr::V6(v6) if within_v6(v6, SIX_TO_FOUR) => is_public_v4(embedded(v6, 2)),
        IpAddr::V6(v6) => {
            within_v6(v6, GLOBAL_V6) && !SPECIAL_V6.iter().any(|range| within_v6(v6, *range))
        }
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|(network, length)| {
        let mask = u32::MAX << (32 - length);
        address.to_bits() & mask == network.to_bits()
    })
}

fn within_v6(address: Ipv6Addr, (network, length): (Ipv6Addr, u32)) -> bool {
    let mask = u128::MAX << (128 - length);
    address.to_bits() & mask == network.to_bits()
}

/// The four octets from this position on.
fn embedded(address: Ipv6Addr, from: usize) -> Ipv4Addr {
    let octets = address.octets();
    Ipv4Addr::new(
        octets[from],
        octets[from + 1],
        octets[from + 2],
        octets[from + 3],
    )
}

#[cfg(test)]
mod tests;
