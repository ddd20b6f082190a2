//! Channels and events.

use std::sync::Mutex;

use event_listener::{Event, Listener};

/// Both ends of a channel.
pub struct Ends<S, R>(S, R);

fn ends<S, R>((sender, receiver): (S, R)) -> Ends<S, R> {
    Ends(sender, receiver)
}

lineup::subject! {
    /// async-channel, one slot.
    pub AsyncBounded1(channel: Ends<async_channel::Sender<u32>, async_channel::Receiver<u32>>)
        = ends(async_channel::bounded(1));
    try_send(v: u32) in [10, 20] => channel.0.try_send(v);
    try_recv() => channel.1.try_recv();
    send(v: u32) in [30] => channel.0.send_blocking(v);
    recv() => channel.1.recv_blocking();
    force_send(v: u32) in [40] => channel.0.force_send(v);
    close() => channel.0.close();
    len() => channel.1.len();
    is_full() => channel.0.is_full();
    is_closed() => channel.0.is_closed();
}

lineup::subject! {
    /// async-channel, two slots: forced sends, and closing.
    pub AsyncBounded2(channel: Ends<async_channel::Sender<u32>, async_channel::Receiver<u32>>)
        = ends(async_channel::bounded(2));
    try_send(v: u32) in [10, 20] => channel.0.try_send(v).is_ok();
    force_send(v: u32) in [30] => channel.0.force_send(v).ok();
    try_recv() => channel.1.try_recv();
    recv() => channel.1.recv_blocking().ok();
    close() => channel.0.close();
    is_closed() => channel.0.is_closed();
}

lineup::subject! {
    /// async-channel, unbounded.
    pub AsyncUnbounded(channel: Ends<async_channel::Sender<u32>, async_channel::Receiver<u32>>)
        = ends(async_channel::unbounded());
    try_send(v: u32) in [10, 20] => channel.0.try_send(v);
    try_recv() => channel.1.try_recv();
    recv() => channel.1.recv_blocking();
    close() => channel.0.close();
    len() => channel.1.len();
    is_empty() => channel.1.is_empty();
}

lineup::subject! {
    /// crossbeam-channel, one slot.
    pub Crossbeam1(channel: Ends<crossbeam_channel::Sender<u32>, crossbeam_channel::Receiver<u32>>)
        = ends(crossbeam_channel::bounded(1));
    try_send(v: u32) in [10, 20] => channel.0.try_send(v);
    try_recv() => channel.1.try_recv();
    send(v: u32) in [30] => channel.0.send(v);
    recv() => channel.1.recv();
    len() => channel.1.len();
    is_empty() => channel.1.is_empty();
    is_full() => channel.0.is_full();
}

lineup::subject! {
    /// crossbeam-channel, unbounded.
    pub CrossbeamUnbounded(channel:
        Ends<crossbeam_channel::Sender<u32>, crossbeam_channel::Receiver<u32>>)
        = ends(crossbeam_channel::unbounded());
    send(v: u32) in [10, 20] => channel.0.send(v);
    try_recv() => channel.1.try_recv();
    recv() => channel.1.recv();
    len() => channel.1.len();
    is_empty() => channel.1.is_empty();
}

lineup::subject! {
    /// flume, one slot.
    pub Flume1(channel: Ends<flume::Sender<u32>, flume::Receiver<u32>>) = ends(flume::bounded(1));
    try_send(v: u32) in [10, 20] => channel.0.try_send(v);
    try_recv() => channel.1.try_recv();
    send(v: u32) in [30] => channel.0.send(v);
    recv() => channel.1.recv();
    len() => channel.1.len();
    is_empty() => channel.1.is_empty();
    is_full() => channel.0.is_full();
}

lineup::subject! {
    /// flume, unbounded.
    pub FlumeUnbounded(channel: Ends<flume::Sender<u32>, flume::Receiver<u32>>)
        = ends(flume::unbounded());
    send(v: u32) in [10, 20] => channel.0.send(v);
    try_recv() => channel.1.try_recv();
    recv() => channel.1.recv();
    len() => channel.1.len();
    is_empty() => channel.1.is_empty();
}

/// Two senders that can be dropped, each behind a lock, and a receiver. No operation waits while it
/// holds a lock: the lock is always released.
pub struct Droppable<S, R>([Mutex<Option<S>>; 2], R);

fn droppable<S: Clone, R>((sender, receiver): (S, R)) -> Droppable<S, R> {
    Droppable([Mutex::new(Some(sender.clone())), Mutex::new(Some(sender))], receiver)
}

impl<S, R> Droppable<S, R> {
    /// Calls a sender, unless it is dropped.
    fn by<T>(&self, sender: usize, call: impl FnOnce(&S) -> T) -> Option<T> {
        self.0[sender].lock().unwrap().as_ref().map(call)
    }

    /// Drops a sender; returns true if it still existed.
    fn drop_sender(&self, sender: usize) -> bool {
        self.0[sender].lock().unwrap().take().is_some()
    }
}

lineup::subject! {
    /// async-channel: senders that are dropped.
    pub AsyncDrop(channel: Droppable<async_channel::Sender<u32>, async_channel::Receiver<u32>>)
        = droppable(async_channel::bounded(1));
    try_send(k: usize) in [0, 1] => channel.by(k, |sender| sender.try_send(k as u32));
    drop_sender(k: usize) in [0, 1] => channel.drop_sender(k);
    try_recv() => channel.1.try_recv();
    recv() => channel.1.recv_blocking();
    is_closed() => channel.1.is_closed();
    sender_count() => channel.1.sender_count();
}

lineup::subject! {
    /// crossbeam-channel: senders that are dropped.
    pub CrossbeamDrop(channel:
        Droppable<crossbeam_channel::Sender<u32>, crossbeam_channel::Receiver<u32>>)
        = droppable(crossbeam_channel::bounded(1));
    try_send(k: usize) in [0, 1] => channel.by(k, |sender| sender.try_send(k as u32));
    drop_sender(k: usize) in [0, 1] => channel.drop_sender(k);
    try_recv() => channel.1.try_recv();
    recv() => channel.1.recv();
    len() => channel.1.len();
}

lineup::subject! {
    /// flume: senders that are dropped.
    pub FlumeDrop(channel: Droppable<flume::Sender<u32>, flume::Receiver<u32>>)
        = droppable(flume::bounded(1));
    try_send(k: usize) in [0, 1] => channel.by(k, |sender| sender.try_send(k as u32));
    drop_sender(k: usize) in [0, 1] => channel.drop_sender(k);
    try_recv() => channel.1.try_recv();
    recv() => channel.1.recv();
    is_disconnected() => channel.1.is_disconnected();
    sender_count() => channel.1.sender_count();
}

lineup::subject! {
    /// event-listener: a wait that begins and ends in one operation.
    pub Event1(event: Event) = Event::new();
    wait() => event.listen().wait();
    notify() => event.notify(1);
    notify_additional() => event.notify_additional(1);
    total_listeners() => event.total_listeners();
}
