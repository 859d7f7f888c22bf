import Glibc
import Synchronization

/// The samples that an independent subscriber has received, checked on arrival.
final class Arrivals: Sendable {
    /// How samples' times map to keys.
    struct Key: Sendable {
        /// Key 0 in milliseconds since 1970, and the milliseconds between two keys.
        var base: Int64
        var step: Int64
    }

    struct Totals: Sendable {
        var messages = 0
        var samples = 0
        var received = 0
        var duplicates = 0
        var newIdentities = 0
        var strangers = 0
        var outOfOrder = 0
        /// Numbers missing up to the greatest one received.
        var holes = 0
    }

    fileprivate struct State: Sendable {
        var key: Key
        var devices: [DeviceArrivals]
        var sequences: [Bool] = []
        var messages = 0
        var samples = 0
        var latencies: [Int32] = []
        var measuresLatency = false
        var onlineAt: [Int64] = []
        var firstSampleAt: Int64 = 0
        var lastSampleAt: Int64 = 0
    }
    private let state: Mutex<State>
    private let sampleCount = Atomic(0)
    private let messageCount = Atomic(0)

    init(devices: Int, key: Key) {
        state = Mutex(State(key: key, devices: Array(repeating: DeviceArrivals(), count: devices)))
    }

    /// Samples so far, including repeated ones.
    var samples: Int { sampleCount.load(ordering: .relaxed) }
    /// Messages with samples so far.
    var messages: Int { messageCount.load(ordering: .relaxed) }
    /// Distinct samples of the feeder so far.
    var received: Int { state.withLock { $0.devices.reduce(0) { $0 + $1.received } } }
    /// When the gateway said `online`, on the steady clock.
    var onlineAt: [Int64] { state.withLock { $0.onlineAt } }
    /// The times of the first and the latest sample on the steady clock; 0 for none.
    var sampleTimes: (first: Int64, last: Int64) { state.withLock { ($0.firstSampleAt, $0.lastSampleAt) } }

    var devices: [DeviceArrivals] { state.withLock { $0.devices } }

    var totals: Totals {
        state.withLock { state in
            var totals = Totals(messages: state.messages, samples: state.samples)
            for device in state.devices {
                totals.received += device.received
                totals.duplicates += device.duplicates
                totals.newIdentities += device.newIdentities
                totals.strangers += device.strangers
                totals.outOfOrder += device.outOfOrder
            }
            totals.holes = state.sequences.dropFirst().count { !$0 }
            return totals
        }
    }

    /// Starts or stops recording the latency of every sample, from device to subscriber.
    func measureLatency(_ isOn: Bool) { state.withLock { $0.measuresLatency = isOn } }
    /// Latencies from device to subscriber, in microseconds, ascending.
    var latencies: [Int32] { state.withLock { $0.latencies.sorted() } }

    /// Takes a message, on the subscriber's thread.
    func record(topic: UnsafePointer<CChar>, payload: UnsafeRawBufferPointer) {
        let now = (steady: Instant.steady, wall: Instant.wall)
        if isStatus(topic) {
            if payload.elementsEqual("online".utf8) { state.withLock { $0.onlineAt.append(now.steady) } }
            return
        }
        guard let measurement = strstr(topic, "/measurement/") else { return takeFact(payload) }
        let device = number(before: measurement, in: topic)
        var scanner = PayloadScanner(payload)
        let isHistorical = scanner.isHistorical()
        let sequence = scanner.sequence()
        let count = state.withLock { state in
            if let sequence, device != nil { state.note(sequence) }
            var count = 0
            while let arrival = scanner.next() {
                count += 1
                if let device { state.record(arrival, of: device, isHistorical: isHistorical, at: now.wall) }
            }
            state.messages += 1
            state.samples += count
            if state.firstSampleAt == 0 { state.firstSampleAt = now.steady }
            state.lastSampleAt = now.steady
            return count
        }
        sampleCount.add(count, ordering: .relaxed)
        messageCount.add(1, ordering: .relaxed)
    }

    /// Facts other than samples also use numbers of the sequence.
    private func takeFact(_ payload: UnsafeRawBufferPointer) {
        var scanner = PayloadScanner(payload)
        if let sequence = scanner.sequence() { state.withLock { $0.note(sequence) } }
    }
}

extension Arrivals.State {
    fileprivate mutating func note(_ sequence: Int) {
        if sequence >= sequences.count {
            sequences.append(contentsOf: repeatElement(false, count: sequence + 1 - sequences.count))
        }
        sequences[sequence] = true
    }

    fileprivate mutating func record(
        _ arrival: PayloadScanner.Arrival, of device: Int, isHistorical: Bool, at now: Int64
    ) {
        guard device < devices.count else { return }
        let (quotient, remainder) = (arrival.start - key.base).quotientAndRemainder(dividingBy: key.step)
        devices[device].record(remainder == 0 ? quotient : nil, identity: arrival.identity, isHistorical: isHistorical)
        if measuresLatency {
            latencies.append(Int32(clamping: now - arrival.start * 1000 - arrival.thousandths))
        }
    }
}
