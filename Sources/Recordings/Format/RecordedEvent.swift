package import GatewayKit

/// An event on a recorded link, and its time.
package struct RecordedEvent: Sendable, Hashable {
    /// The time since the recording began, in whole milliseconds.
    package var at: Duration
    /// The line of the file that has it, from 1.
    package var line: Int
    /// What happened.
    package var content: Content

    /// An event of a link.
    package init(at: Duration, line: Int, content: Content) {
        self.at = at
        self.line = line
        self.content = content
    }

    /// What happened.
    package enum Content: Sendable, Hashable {
        /// Bytes of a stream that the gateway sent.
        case sent(RecordedBytes)
        /// Bytes of a stream that the device sent.
        case received(RecordedBytes)
        /// The gateway began a call of a Bluetooth link. Calls are numbered within a link, from 1.
        case call(Int, RecordedCall)
        /// The device's answer to the call of this number.
        case answer(Int, RecordedAnswer)
        /// A value that the device sent unasked, of the characteristic with this handle.
        case value(UInt16, RecordedBytes)
        /// The link is over.
        case end(RecordedEnd)
    }

    /// Whether the gateway did it, and not the device.
    package var isOfGateway: Bool {
        switch content {
        case .sent, .call: true
        case .received, .answer, .value, .end: false
        }
    }
}

/// A call of a Bluetooth link, with the handle of its characteristic.
package enum RecordedCall: Sendable, Hashable {
    case read(UInt16)
    case write(UInt16, RecordedBytes, GATTWrite)
    case subscribe(UInt16)
    case unsubscribe(UInt16)
    /// Services that the gateway offers to the device.
    case serve([BluetoothUUID])
}

/// The answer to a call of a Bluetooth link.
package enum RecordedAnswer: Sendable, Hashable {
    /// It was done. `bytes` is the value of a read, and empty for other calls.
    case done(RecordedBytes)
    /// The device refused it, or the link failed.
    case failed(GATTError)
}

/// How a recorded link ended.
package enum RecordedEnd: Sendable, Hashable {
    /// The device ended it.
    case byDevice
    /// The gateway ended it.
    case byGateway
    /// It broke.
    case broken(LinkError)
}

/// Bytes of a recording, some of which were masked before they were written.
package struct RecordedBytes: Sendable, Hashable {
    /// The bytes as recorded.
    package var bytes: [UInt8]
    /// The positions in `bytes` whose true content was a secret or an address, ascending and apart.
    package var masked: [Range<Int>]

    /// Bytes, of which these ranges are masked.
    package init(_ bytes: [UInt8], masked: [Range<Int>] = []) {
        self.bytes = bytes
        self.masked = masked
    }

    /// Adds further bytes at the end.
    package mutating func append(_ other: RecordedBytes) {
        let offset = bytes.count
        bytes += other.bytes
        masked += other.masked.map { $0.lowerBound + offset..<$0.upperBound + offset }
    }
}
