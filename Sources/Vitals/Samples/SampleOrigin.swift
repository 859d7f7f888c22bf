/// Which of the sources of one device recorded a sample, where a device has several: an app on a phone has the records of a watch and
/// of the phone itself.
///
/// Sources are ordered by `place`, then by `name`. Of two that count the same interval the first one counts; what does not add up
/// is kept of each.
public struct SampleOrigin: Sendable, Hashable {
    /// The longest name that is kept, in characters: longer ones with the same beginning are one source. Names are stored with
    /// samples, and the longest of a maker has half of it.
    public static let maximumName = 80

    /// Its place in the order: the lower one comes first. Only those of exports, which have all records, are below 0.
    public let place: Int
    /// The name by which the source is known again; empty for one that the document does not name.
    public let name: String
    /// Whether an earlier source has a value of the same metric and times, so that the sample's id needs the name. The store
    /// finds that out.
    package var isBeside = false

    /// A source with this place and name, which is cut to `maximumName`.
    public init(place: Int, name: String) {
        self.place = place
        self.name = String(String.UnicodeScalarView(name.unicodeScalars.prefix(Self.maximumName)))
    }

    /// Whether it comes before another one in the order.
    public func precedes(_ other: SampleOrigin) -> Bool {
        if place != other.place { return place < other.place }
        return name.unicodeScalars.lexicographicallyPrecedes(other.name.unicodeScalars)
    }

    /// Whether it is of an export, which has all that was counted: what an app has summed up of it gives way.
    package var isOfExport: Bool { place < 0 }

    /// Whether it is another source, or several that an app has put together with `|` between them, or none by name, so that what it
    /// sums up may be of that one.
    package func includes(_ other: SampleOrigin) -> Bool {
        name == other.name || name.isEmpty || name.split(separator: "|").contains { $0 == other.name[...] }
    }

    /// What stands for the name in the keys of samples, from 1 to 2⁴⁸ − 1: FNV-1a of its UTF-8, the same in every process.
    package var number: Int64 { Self.number(of: name) }

    /// The same of any text.
    package static func number(of name: String) -> Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return max(Int64(truncatingIfNeeded: hash >> 16), 1)
    }
}

/// How the origins of two samples with the same metric and times compare.
package enum Precedence: Sendable, Hashable {
    /// They are of one source.
    case same
    /// The first is of an earlier source than the second.
    case before
    /// The first is of a later source.
    case behind

    /// How a source compares with another one. A sample without a source is of the one without a name, behind all others.
    package init(of ours: SampleOrigin?, over theirs: SampleOrigin?) {
        if ours?.name ?? "" == theirs?.name ?? "" {
            self = .same
        } else if let ours, let theirs {
            self = ours.precedes(theirs) ? .before : .behind
        } else {
            self = theirs == nil ? .before : .behind
        }
    }
}

extension Sample {
    /// How this sample's source compares with that of another one.
    package func precedence(over other: Sample) -> Precedence { Precedence(of: origin, over: other.origin) }

    /// Whether one of an earlier source has the same times and the id without a name.
    package var isBeside: Bool { origin?.isBeside ?? false }

    /// What its id needs beside its times: the word that separates it from others, or the name of its source if it stands beside one
    /// of an earlier source; `nil` for most. Counts never stand beside each other, so that both never come together.
    package var besideName: String? { separateWord ?? (isBeside ? origin?.name : nil) }

    private var separateWord: String? {
        guard !qualifiers.isEmpty else { return nil }
        return metric.qualifiers.first(where: \.isSeparate).flatMap { qualifiers[$0.qualifier] }
    }
}
