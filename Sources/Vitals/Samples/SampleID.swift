/// The id of a sample: a UUID of version 5, always the same for the same record, however often it arrives.
///
/// It is computed from device, metric, start, end and whether a person started the measurement. Value and kind are not
/// part of it, so that a live sample and its copy in the device's history are one, and a corrected value keeps its id. Where
/// several sources of a device have a value of the same metric and times, the first one has this id, and the name of each other
/// one is part of its own.
public struct SampleID: Sendable, Hashable {
    /// The first eight bytes, most significant first.
    public let high: UInt64
    /// The last eight bytes, most significant first.
    public let low: UInt64

    /// An id from its 16 bytes, as two big-endian halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

extension SampleID: CustomStringConvertible {
    /// Length of the text form, in bytes.
    private static let textLength = 36
    /// Number of digits of each group of the text form.
    private static let groups = [8, 4, 4, 4, 12]

    /// The id in the usual text form, in lower case: `5f0c6b0e-6d1d-5b0a-9a53-0d6a0f4f6a11`.
    public var description: String { String(textCount: Self.textLength, write) }

    /// Appends the text form.
    public func append(to bytes: inout [UInt8]) { bytes.appendText(count: Self.textLength, write) }

    /// The id of a text of 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12, joined by hyphens, in either case;
    /// `nil` for any other text. Version and variant are not checked.
    public init?(_ text: String) {
        var cursor = TextCursor(text)
        var halves: (high: UInt64, low: UInt64) = (0, 0)
        for (index, count) in Self.groups.enumerated() {
            if index > 0, !cursor.consume("-") { return nil }
            for _ in 0..<count {
                guard let digit = cursor.hexadecimalDigit() else { return nil }
                halves = (halves.high << 4 | halves.low >> 60, halves.low << 4 | digit)
            }
        }
        guard cursor.isAtEnd else { return nil }
        self.init(high: halves.high, low: halves.low)
    }

    private func write(to text: UnsafeMutableBufferPointer<UInt8>) {
        text.writeHexadecimal(high >> 32, count: 8, at: 0)
        text.writeHexadecimal(high >> 16, count: 4, at: 9)
        text.writeHexadecimal(high, count: 4, at: 14)
        text.writeHexadecimal(low >> 48, count: 4, at: 19)
        text.writeHexadecimal(low, count: 12, at: 24)
        text[8] = UInt8(ascii: "-")
        text[13] = UInt8(ascii: "-")
        text[18] = UInt8(ascii: "-")
        text[23] = UInt8(ascii: "-")
    }
}

extension SampleID {
    /// The namespace of all ids that this gateway makes from names: `bb0af8a1-e772-4d44-b4ac-d9696c7ac5e7`, generated
    /// at random for the MQTT contract and never changed.
    public static let namespace = SampleID(high: 0xbb0a_f8a1_e772_4d44, low: 0xb4ac_d969_6c7a_c5e7)

    /// The hash after taking in the namespace.
    private static let namespaceHash: SHA1 = {
        var hash = SHA1()
        hash.append(bigEndian: namespace.high)
        hash.append(bigEndian: namespace.low)
        return hash
    }()

    /// The id of a sample: a UUID of version 5 in `namespace`, over
    /// `<device>|<metric>|<start ms>|<end ms>|<1 if user-initiated, else 0>`, and beside the value of an earlier source over
    /// `|<source>` behind that.
    public init(
        device: DeviceID, metric: Metric, start: Timestamp, end: Timestamp, isUserInitiated: Bool,
        source: String? = nil
    ) {
        let separator = UInt8(ascii: "|")
        var hash = Self.namespaceHash
        hash.append(device.text.utf8)
        hash.append(separator)
        hash.append(metric.rawValue.utf8)
        hash.append(separator)
        hash.append(decimal: start.milliseconds)
        hash.append(separator)
        hash.append(decimal: end.milliseconds)
        hash.append(separator)
        hash.append(UInt8(ascii: isUserInitiated ? "1" : "0"))
        if let source {
            hash.append(separator)
            hash.append(source.utf8)
        }
        self.init(hash: hash)
    }

    /// The id of a device's sample.
    public init(device: DeviceID, sample: Sample) {
        self.init(
            device: device, metric: sample.metric, start: sample.start, end: sample.end,
            isUserInitiated: sample.isUserInitiated, source: sample.besideName)
    }

    /// The id of anything else with a name, such as an edge of an alert: a UUID of version 5 in `namespace`, over the
    /// name's UTF-8.
    public init(name: String) {
        var hash = Self.namespaceHash
        hash.append(name.utf8)
        self.init(hash: hash)
    }

    /// A new random id: a UUID of version 4.
    public init(random generator: inout some RandomNumberGenerator) {
        self.init(high: generator.next(), low: generator.next(), version: 4)
    }

    private init(hash: consuming SHA1) {
        let words = hash.digest()
        self.init(
            high: UInt64(words.0) << 32 | UInt64(words.1), low: UInt64(words.2) << 32 | UInt64(words.3), version: 5)
    }

    /// A UUID of these bits, six of which are replaced by version and variant (RFC 9562, 4).
    private init(high: UInt64, low: UInt64, version: UInt64) {
        self.init(high: high & ~0xF000 | version << 12, low: low & ~(3 << 62) | 2 << 62)
    }
}
