use ackbox_model::*;
#[test]
fn probe() {
    let all = Guards::ALL;
    let cases = [
        (
            "lease_check",
            Guards {
                lease_check: false,
                ..all
            },
        ),
        (
            "expiry_skew",
            Guards {
                expiry_skew: false,
                ..all
            },
        ),
        (
            "window_check",
            Guards {
                window_check: false,
                ..all
            },
        ),
        (
            "window_skew",
            Guards {
                window_skew: false,
                ..all
            },
        ),
        (
            "first_uncertain_at",
            Guards {
                first_uncertain_at: false,
                ..all
            },
        ),
        (
            "claim_fence",
            Guards {
                claim_fence: false,
                ..all
            },
        ),
        (
            "claim_state",
            Guards {
                claim_state: false,
                ..all
            },
        ),
        (
            "claim_id",
            Guards {
                claim_id: false,
                ..all
            },
        ),
        (
            "settle_fence",
            Guards {
                settle_fence: false,
                ..all
            },
        ),
        (
            "settle_state",
            Guards {
                settle_state: false,
                ..all
            },
        ),
        (
            "late_success",
            Guards {
                late_success: false,
                ..all
            },
        ),
        (
            "permit_once",
            Guards {
                permit_once: false,
                ..all
            },
        ),
    ];
    for (name, g) in cases {
        for d in [
            Destination::None,
            Destination::WindowRetry,
            Destination::WindowHold,
        ] {
            let op = u8::from(name == "permit_once");
            let b = Bounds {
                crashes: 0,
                operator_acts: op,
                records: 1,
                dispatchers: 2,
                ..Bounds::full(d)
            };
            let t = std::time::Instant::now();
            match shortest_violation(Protocol::new(b, g)) {
                Some((n, s)) => eprintln!("{name} {d:?} {:?} {n:?}\n{s}", t.elapsed()),
                None => eprintln!("{name} {d:?} {:?} NONE", t.elapsed()),
            }
        }
    }
}
