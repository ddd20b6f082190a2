//! The macros.

/// Makes a [`Subject`](crate::Subject) of an object, from its calls.
///
/// Each operation has its arguments, the values of them that tests use (`in`; tuples for
/// several arguments), and the call. Responses are compared by their `Debug` texts.
///
/// ```
/// use lineup::sync::Mutex;
///
/// lineup::subject! {
///     /// A counter behind a lock.
///     pub Counter(count: Mutex<u32>) = Mutex::new(0);
///     add(n: u32) in [1, 2] => *count.lock().unwrap() += n;
///     get() => *count.lock().unwrap();
/// }
///
/// lineup::assert!(Counter, [add(1), get()], [add(2)]);
/// ```
///
/// `spurious` after the object names answers that are always allowed, without effect:
/// `= Mutex::new(0), spurious(try_get => None::<u32>);`.
///
/// `drop(..)` after the object makes `drop()` an operation: an expression that has the object
/// by value. It is the last operation of every random test, when all threads are done:
///
/// ```
/// use std::sync::Arc;
///
/// use lineup::sync::Mutex;
///
/// type Stack = (Mutex<Vec<Arc<()>>>, Arc<()>);
///
/// lineup::subject! {
///     /// A stack, and a token of which it keeps copies.
///     pub Tokens(stack: Stack) = Default::default(),
///         drop({ drop(stack.0); Arc::strong_count(&stack.1) });
///     push() => stack.0.lock().unwrap().push(Arc::clone(&stack.1));
///     pop() => stack.0.lock().unwrap().pop().is_some();
/// }
///
/// lineup::assert!(Tokens, [push(), pop()], [push()], finally [drop()]);
/// ```
#[macro_export]
macro_rules! subject {
    (
        $(#[$doc:meta])*
        $visibility:vis $name:ident($object:ident: $type:ty) = $new:expr
            $(, spurious($($refused:ident => $refusal:expr),+ $(,)?))?
            $(, drop($dropping:expr))?;
        $($operation:ident($($argument:ident: $of:ty),*) $(in [$($values:expr),* $(,)?])?
            => $call:expr;)+
    ) => {
        $(#[$doc])*
        $visibility struct $name($type);

        const _: () = {
            /// An operation with its arguments.
            #[derive(Clone, Debug)]
            #[allow(non_camel_case_types)]
            pub enum Invocation {
                $(#[allow(missing_docs)] $operation($($of),*),)+
                $(#[doc = ::std::stringify!($dropping)] drop(),)?
            }

            #[allow(dead_code)]
            impl $name {
                $(
                    /// The invocation.
                    $visibility fn $operation($($argument: $of),*) -> Invocation {
                        Invocation::$operation($($argument),*)
                    }
                )+
                $(
                    #[doc = ::std::stringify!($dropping)]
                    $visibility fn drop() -> Invocation {
                        Invocation::drop()
                    }
                )?
            }

            impl $crate::Subject for $name {
                type Invocation = Invocation;

                const NAME: &'static str = stringify!($name);

                fn new() -> Self {
                    Self($new)
                }

                fn call(&self, invocation: &Invocation) -> $crate::Text {
                    let $object = &self.0;
                    match invocation.clone() {
                        $(Invocation::$operation($($argument),*) => {
                            $crate::Text::new(&$call)
                        })+
                        $(Invocation::drop() => {
                            ::std::unreachable!("{}", ::std::stringify!($dropping))
                        })?
                    }
                }

                $(
                    fn dropping() -> ::std::option::Option<Invocation> {
                        // For `$dropping`.
                        let _ = ::std::stringify!($dropping);
                        ::std::option::Option::Some(Invocation::drop())
                    }

                    fn dropped(self) -> $crate::Text {
                        let $object = self.0;
                        $crate::Text::new(&$dropping)
                    }
                )?

                #[allow(unused_mut, unused_parens)]
                fn representatives() -> ::std::vec::Vec<Invocation> {
                    let mut all = ::std::vec::Vec::new();
                    $($crate::__representatives!(
                        all, Invocation::$operation, ($($argument),*) $(, [$($values),*])?
                    );)+
                    all
                }

                #[allow(unused_variables)]
                fn is_spurious(invocation: &Invocation, response: &$crate::Text) -> bool {
                    $($(
                        if matches!(invocation, Invocation::$refused(..)) {
                            return response.0 == ::std::format!("{:?}", $refusal);
                        }
                    )+)?
                    false
                }
            }
        };
    };
}

/// The invocations of one operation.
#[doc(hidden)]
#[macro_export]
macro_rules! __representatives {
    ($all:ident, $make:path, ()) => {
        $all.extend([$make()]);
    };
    ($all:ident, $make:path, ($($argument:ident),+), [$($value:expr),*]) => {
        for ($($argument),+) in [$($value),*] {
            $all.push($make($($argument),+));
        }
    };
}

/// Makes a test of a subject: a list of invocations per thread; `init` and `finally` precede the
/// sequences executed before and after.
///
/// ```
/// # lineup::subject! {
/// #     Cell(cell: lineup::sync::atomic::AtomicU32) = Default::default();
/// #     set(n: u32) in [1] => cell.store(n, lineup::sync::atomic::Ordering::SeqCst);
/// #     get() => cell.load(lineup::sync::atomic::Ordering::SeqCst);
/// # }
/// let test = lineup::test!(Cell, [set(7), get()], [get()], finally [get()]);
/// assert_eq!(test.text(), "set(7) get() | get() | final: get()");
/// ```
///
/// # Panics
/// If it has more than 14 threads or 64 operations.
#[macro_export]
macro_rules! test {
    (
        $subject:ident
        $(, init [$($initial:ident($($i:expr),*)),* $(,)?])?
        $(, [$($operation:ident($($argument:expr),*)),* $(,)?])+
        $(, finally [$($final:ident($($f:expr),*)),* $(,)?])?
        $(,)?
    ) => {
        match $crate::Test::with::<$subject>(
            ::std::vec![$(::std::vec![$($subject::$operation($($argument),*)),*]),+],
            ::std::vec![$($($subject::$initial($($i),*)),*)?],
            ::std::vec![$($($subject::$final($($f),*)),*)?],
        ) {
            ::std::result::Result::Ok(test) => test,
            ::std::result::Result::Err(error) => ::std::panic!("{error}"),
        }
    };
}

/// Asserts, in an ordinary `#[test]`, that a subject passes.
///
/// * `assert!(Queue, [push(1), pop()], [len()])`: one test, all executions with up to two
///   preemptions;
/// * `assert!(Queue, random(3 x 3, 100))`: random tests of three operations on each of three
///   threads, up to 20,000 executions each;
/// * `assert!(Queue, all(2 x 2))`: all tests of that shape;
/// * `assert!(Queue, auto(3))`: AutoCheck up to 3 x 3.
///
/// # Panics
/// If a test fails, with the smallest failing test and its explanation; or if a test has no answer.
#[macro_export]
macro_rules! assert {
    ($subject:ident, random($rows:literal x $columns:literal, $samples:literal)) => {
        $crate::assertion::random::<$subject>(($rows, $columns), $samples)
    };
    ($subject:ident, all($rows:literal x $columns:literal)) => {
        $crate::assertion::all::<$subject>(($rows, $columns))
    };
    ($subject:ident, auto($up_to:literal)) => {
        $crate::assertion::auto::<$subject>($up_to)
    };
    ($subject:ident, $($test:tt)+) => {
        $crate::assertion::one(&$crate::test!($subject, $($test)+))
    };
}

/// Makes the `main` of a program that checks these subjects, with the commands `run`, `random`,
/// `auto`, `replay`, `show`, `table` and `list`.
#[macro_export]
macro_rules! main {
    ($($subject:ty),+ $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::cli::main(&[$($crate::AnySubject::new::<$subject>()),+])
        }
    };
}
