use snapshot_everyn::{compile::compile, model::*, prove::*, shape::Mode};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let a = snapshot_language::parse("x", &text).unwrap();
    let p = a.program(args.get(3).map(|s| s.as_str())).unwrap();
    let o = match args[2].as_str() {
        "d0" => Obligation {
            mode: Mode::Direct,
            ghosts: Ghosts::Scans,
            specification: Specification::Observer,
        },
        "l0" => Obligation {
            mode: Mode::Direct,
            ghosts: Ghosts::Scans,
            specification: Specification::Local,
        },
        "n0" => Obligation {
            mode: Mode::Nested,
            ghosts: Ghosts::Scans,
            specification: Specification::Observer,
        },
        "d1" => Obligation {
            mode: Mode::Direct,
            ghosts: Ghosts::Calls,
            specification: Specification::Observer,
        },
        "l1" => Obligation {
            mode: Mode::Direct,
            ghosts: Ghosts::Calls,
            specification: Specification::Local,
        },
        _ => Obligation {
            mode: Mode::Nested,
            ghosts: Ghosts::Calls,
            specification: Specification::Observer,
        },
    };
    let m = match compile(&p, o) {
        Ok(m) => m,
        Err(u) => {
            println!("unsupported {} at {:?} {:?}", u.construct, u.span, a.source().slice(u.span));
            return;
        }
    };
    println!("slots {} code {}", m.slots.len(), m.code.len());
    let limits = Limits {
        views: 3_000_000,
        bytes: 1 << 30,
        until: Some(std::time::Instant::now() + std::time::Duration::from_secs(60)),
    };
    let proof = prove(&m, limits, Sabotage::default());
    println!(
        "{:?} centres {} {:?}",
        proof.finding.kinds.iter().map(|k| k.views).collect::<Vec<_>>(),
        proof.finding.centres,
        proof.finding.elapsed
    );
    match &proof.finding.attempt {
        Attempt::Fails(f, ev) => {
            println!("FAILS {f:?}");
            for e in ev {
                println!(
                    "  {:?} {:?}",
                    e.who,
                    e.span.map(|s| (
                        a.source().position(s),
                        a.source().slice(s).lines().next().unwrap_or("").to_string()
                    ))
                );
            }
        }
        other => println!("{other:?}"),
    }
}
