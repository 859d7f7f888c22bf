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
    /// `<device>|<metric>|<start ms>|<end ms>|<1 if user-initiated, else 0>`.
    public init(device: DeviceID, metric: Metric, start: Timestamp, end: Timestamp, isUserInitiated: Bool) {
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
        self.init(hash: hash)
    }

    /// The id of a device's sample.
    public init(device: DeviceID, sample: Sample) {
        self.init(
            device: device, metric: sample.metric, start: sample.start, end: sample.end,
            isUserInitiated: sample.isUserInitiated)
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
