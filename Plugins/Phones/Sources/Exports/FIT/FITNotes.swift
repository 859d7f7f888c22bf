import GatewayKit
import Vitals

/// What the driver's notes keep: the digests of the files that are durable, oldest first, and how far running counts are. Without them all
/// files are read again, and change nothing.
struct FITNotes {
    private var digests: [UInt64] = []
    private var known: Set<UInt64> = []
    private(set) var counts = FITCounts()
    /// The digests whose note is to be written: all from this place on.
    private var noted = 0
    private var notedCounts: [UInt8] = []

    private static let prefix = "done."
    private static let countsName = "counts"
    /// The digests of a note, of eight bytes each.
    private static let block = DeviceNotes.maximumSize / 8

    /// Reads the notes.
    /// - Throws: what the gateway's store says.
    init(_ notes: DeviceNotes) async throws(DeviceError) {
        let kept = try await notes.all()
        var place = 0
        while let bytes = kept["\(Self.prefix)\(place)"] {
            for start in stride(from: 0, to: bytes.count - bytes.count % 8, by: 8) {
                digests.append(bytes[start..<start + 8].bits())
            }
            place += 1
        }
        known = Set(digests)
        noted = digests.count
        notedCounts = kept[Self.countsName] ?? []
        counts = FITCounts(note: notedCounts)
    }

    /// Whether a file with this digest is durable.
    func contains(_ digest: UInt64) -> Bool { known.contains(digest) }

    /// Adds a file. Beyond the most files of a folder the older half is forgotten.
    mutating func add(_ digest: UInt64, _ counts: FITCounts) {
        self.counts = counts
        guard known.insert(digest).inserted else { return }
        if digests.count >= FITLimits.files {
            for old in digests.prefix(FITLimits.files / 2) { known.remove(old) }
            digests.removeFirst(FITLimits.files / 2)
            noted = 0
        }
        digests.append(digest)
    }

    /// Writes what has changed.
    /// - Throws: what the gateway's store says.
    mutating func save(in notes: DeviceNotes) async throws(DeviceError) {
        var changes: [String: [UInt8]?] = [:]
        for block in noted / Self.block...digests.count / Self.block {
            let part = digests.dropFirst(block * Self.block).prefix(Self.block)
            guard noted < digests.count, !part.isEmpty else { continue }
            changes["\(Self.prefix)\(block)"] = part.flatMap { digest in
                withUnsafeBytes(of: digest.littleEndian) { Array($0) }
            }
        }
        // Those of forgotten files.
        if noted == 0 {
            for block in digests.count / Self.block + 1...FITLimits.files / Self.block + 1 {
                changes["\(Self.prefix)\(block)"] = .some(nil)
            }
        }
        let note = counts.note
        if note != notedCounts { changes[Self.countsName] = note }
        try await notes.save(changes)
        (noted, notedCounts) = (digests.count, note)
    }
}
