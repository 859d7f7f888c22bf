import GatewayKit
import Vitals

/// The content of exports that is durable in the gateway. The driver's notes keep it, so that a correction of any day is found that
/// was exported while the gateway did not run.
struct DeliveredContent {
    /// What the notes are of: they say nothing of another app, another device or other local days.
    private static let origin = "origin"

    /// What was delivered; empty before the first time.
    private(set) var digests: Digests
    /// What the notes have of it: less, if they could not be written.
    private var noted: Digests

    /// Reads the notes. Those of another origin are removed.
    /// - Throws: what the gateway's store says.
    init(_ notes: DeviceNotes, of origin: String) async throws(DeviceError) {
        let kept = try await notes.all()
        if kept[Self.origin] == Self.mark(origin) {
            digests = Digests(notes: kept)
            noted = digests
        } else {
            (digests, noted) = (Digests(), Digests())
            try await notes.save(kept.mapValues { _ in nil })
        }
    }

    /// Takes this content instead.
    mutating func become(_ digests: Digests) { self.digests = digests }

    /// Keeps it. Only notes that differ are written.
    mutating func save(in notes: DeviceNotes, of origin: String) async throws(DeviceError) {
        var changes = digests.changes(ofNotes: noted)
        changes[Self.origin] = .some(Self.mark(origin))
        try await notes.save(changes)
        noted = digests
    }

    private static func mark(_ origin: String) -> [UInt8] {
        var hash = StableHash()
        hash.combine(origin)
        return withUnsafeBytes(of: hash.value.littleEndian) { Array($0) }
    }
}
