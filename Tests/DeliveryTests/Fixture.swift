import Vitals

/// Values shared by the tests of delivery.
enum Fixture {
    static let device: DeviceID = {
        guard let id = DeviceID("band-1") else { preconditionFailure("band-1 is an identifier") }
        return id
    }()
    /// 2026-11-21T12:00:00Z
    static let noon = Timestamp(seconds: 1_795_262_400)

    static func heartRate(_ value: Double) -> StoredSample {
        let sample = Sample(metric: .heartRate, start: noon, reading: .value(value))
        return StoredSample(
            sample: sample, of: device, revision: 1, receivedAt: noon)
    }
}
