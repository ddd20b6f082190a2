//! Objects with an end for each thread, and locks that can be tried: `cargo lineup random`
//! (../FINDINGS.md, 14).

use std::sync::Mutex;

use ringbuf::traits::{Consumer, Observer, Producer, Split};

/// Two ends, each behind a lock, which an operation holds to its end.
pub struct Ends<S, R>(Mutex<Option<S>>, Mutex<Option<R>>);

fn ends<S, R>((sender, receiver): (S, R)) -> Ends<S, R> {
    Ends(Mutex::new(Some(sender)), Mutex::new(Some(receiver)))
}

impl<S, R> Ends<S, R> {
    /// Calls the sender, if it is there.
    fn send<T>(&self, call: impl FnOnce(&mut S) -> T) -> Option<T> {
        self.0.lock().unwrap().as_mut().map(call)
    }

    /// Calls the receiver, if it is there.
    fn receive<T>(&self, call: impl FnOnce(&mut R) -> T) -> Option<T> {
        self.1.lock().unwrap().as_mut().map(call)
    }

    /// Gives the sender away, if it is there.
    fn last_send<T>(&self, call: impl FnOnce(S) -> T) -> Option<T> {
        let mut sender = self.0.lock().unwrap();
        sender.take().map(call)
    }

    /// Gives the receiver away, if it is there.
    fn last_receive<T>(&self, call: impl FnOnce(R) -> T) -> Option<T> {
        let mut receiver = self.1.lock().unwrap();
        receiver.take().map(call)
    }
}

lineup::subject! {
    /// oneshot, without waiting.
    pub OneShot(ends: Ends<oneshot::Sender<u32>, oneshot::Receiver<u32>>) = ends(oneshot::channel());
    send(v: u32) in [10] => ends.last_send(|sender| sender.send(v).is_ok());
    drop_sender() => ends.last_send(drop);
    is_closed() => ends.send(|sender| sender.is_closed());
    try_recv() => ends.receive(|receiver| receiver.try_recv());
    drop_receiver() => ends.last_receive(drop);
}

lineup::subject! {
    /// oneshot: a receiver that waits.
    pub OneShotWaits(ends: Ends<oneshot::Sender<u32>, oneshot::Receiver<u32>>)
        = ends(oneshot::channel());
    send(v: u32) in [10] => ends.last_send(|sender| sender.send(v).is_ok());
    drop_sender() => ends.last_send(drop);
    recv() => ends.last_receive(|receiver| receiver.recv());
}

lineup::subject! {
    /// oneshot: a receiver that is a future.
    pub OneShotAsync(ends: Ends<oneshot::Sender<u32>, oneshot::AsyncReceiver<u32>>)
        = ends(oneshot::async_channel());
    send(v: u32) in [10] => ends.last_send(|sender| sender.send(v).is_ok());
    drop_sender() => ends.last_send(drop);
    recv() => ends.last_receive(lineup::block_on);
}

type FutureEnds =
    Ends<futures_channel::oneshot::Sender<u32>, futures_channel::oneshot::Receiver<u32>>;

lineup::subject! {
    /// futures-channel: a channel for one message, without waiting.
    pub FuturesOneShot(ends: FutureEnds) = ends(futures_channel::oneshot::channel());
    send(v: u32) in [10] => ends.last_send(|sender| sender.send(v).is_ok());
    drop_sender() => ends.last_send(drop);
    is_canceled() => ends.send(|sender| sender.is_canceled());
    try_recv() => ends.receive(|receiver| receiver.try_recv());
    close() => ends.receive(|receiver| receiver.close());
    drop_receiver() => ends.last_receive(drop);
}

lineup::subject! {
    /// futures-channel: a receiver that waits.
    pub FuturesWaits(ends: FutureEnds) = ends(futures_channel::oneshot::channel());
    send(v: u32) in [10] => ends.last_send(|sender| sender.send(v).is_ok());
    drop_sender() => ends.last_send(drop);
    recv() => ends.last_receive(lineup::block_on);
}

lineup::subject! {
    /// futures-channel: a channel with a slot for its sender.
    pub FuturesBounded(ends:
        Ends<futures_channel::mpsc::Sender<u32>, futures_channel::mpsc::Receiver<u32>>)
        = ends(futures_channel::mpsc::channel(0));
    try_send(v: u32) in [10, 20] => ends.send(|sender| sender.try_send(v).is_ok());
    drop_sender() => ends.last_send(drop);
    is_closed() => ends.send(|sender| sender.is_closed());
    try_recv() => ends.receive(|receiver| receiver.try_recv());
    close() => ends.receive(|receiver| receiver.close());
    drop_receiver() => ends.last_receive(drop);
}

lineup::subject! {
    /// triple_buffer: the latest value.
    pub TripleBuffer(ends: Ends<triple_buffer::Input<u32>, triple_buffer::Output<u32>>)
        = ends(triple_buffer::triple_buffer(&0));
    write(v: u32) in [10, 20] => ends.send(|input| input.write(v));
    read() => ends.receive(|output| *output.read());
    updated() => ends.receive(|output| output.updated());
}

lineup::subject! {
    /// ringbuf: two slots.
    pub RingBuf(ends: Ends<ringbuf::HeapProd<u32>, ringbuf::HeapCons<u32>>)
        = ends(ringbuf::HeapRb::new(2).split());
    try_push(v: u32) in [10, 20] => ends.send(|producer| producer.try_push(v).is_ok());
    try_pop() => ends.receive(|consumer| consumer.try_pop());
    len() => ends.receive(|consumer| consumer.occupied_len());
    is_full() => ends.send(|producer| producer.is_full());
    drop_producer() => ends.last_send(drop);
    is_abandoned() => ends.receive(|consumer| !consumer.write_is_held());
}

lineup::subject! {
    /// try-lock.
    pub TryLock(lock: try_lock::TryLock<u32>) = try_lock::TryLock::new(0),
        spurious(add => None::<u32>);
    add() => lock.try_lock().map(|mut value| { *value += 1; *value });
}

lineup::subject! {
    /// async-lock: a semaphore of one.
    pub Semaphore(semaphore: async_lock::Semaphore) = async_lock::Semaphore::new(1);
    acquire() => semaphore.acquire_blocking().forget();
    try_acquire() => semaphore.try_acquire().map(|guard| guard.forget()).is_some();
    release() => semaphore.add_permits(1);
}

lineup::subject! {
    /// async-lock: a cell that is initialised once.
    pub OnceCell(cell: async_lock::OnceCell<u32>) = async_lock::OnceCell::new();
    set(v: u32) in [10, 20] => cell.set_blocking(v).is_ok();
    get() => cell.get().copied();
    get_or_init(v: u32) in [30] => *cell.get_or_init_blocking(|| v);
    is_initialized() => cell.is_initialized();
    wait() => *cell.wait_blocking();
}

lineup::subject! {
    /// async-lock: a lock, taken and given back in each operation.
    pub AsyncMutex(lock: async_lock::Mutex<u32>) = async_lock::Mutex::new(0),
        spurious(try_add => None::<u32>);
    add() => { let mut value = lock.lock_blocking(); *value += 1; *value };
    try_add() => lock.try_lock().map(|mut value| { *value += 1; *value });
}

lineup::main!(
    OneShot,
    OneShotWaits,
    OneShotAsync,
    FuturesOneShot,
    FuturesWaits,
    FuturesBounded,
    TripleBuffer,
    RingBuf,
    TryLock,
    Semaphore,
    OnceCell,
    AsyncMutex,
);
