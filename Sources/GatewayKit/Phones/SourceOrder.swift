package import Vitals

/// The order of the sources whose records an app on a phone has: a watch, a ring and the phone itself count the same steps.
///
/// The configuration names the first ones. The others follow by what they are, and of two of a kind by name, so that the order stays the
/// same while a day goes on, whatever each of them counts.
package struct SourceOrder: Sendable, Hashable {
    /// The most sources that a configuration orders: a person wears a few devices.
    package static let maximumNames = 20
    /// The place of the first source that the configuration does not name.
    private static let unnamed = 1_000

    private let names: [String]

    /// An order that begins with these sources.
    package init(_ names: [String] = []) { self.names = names }

    /// Reads the option `sources`.
    package init(_ options: inout ConfigurationReader) {
        names = options.oneOrMoreStrings("sources", limit: Self.maximumNames) ?? []
        options.describe(
            "sources", "text, or list of at most \(Self.maximumNames)",
            default: "watches, then bands and rings, then phones, then others",
            about: "Which of several sources counts an interval: the first of these that has it.")
    }

    /// What a source is, the surest to be worn first.
    package enum Kind: Int, Sendable, Hashable {
        case watch, bandOrRing, phone, other

        /// A source with this name, by the words that makers and people use: Apple Health names a watch `Anna's Apple Watch`, and Health
        /// Connect has models such as `Pixel Watch` and `Pixel 9`. A band or a ring is a word of its own (`Mi Band 8`, `Oura Ring`),
        /// since a spring and a husband are none.
        package init(name: String) {
            let name = name.lowercased()
            let words = name.split { !$0.isLetter }
            if name.contains("watch") {
                self = .watch
            } else if words.contains("band") || words.contains("ring") {
                self = .bandOrRing
            } else if name.contains("phone") || words.contains("pixel") {
                self = .phone
            } else {
                self = .other
            }
        }

        /// A device of this type (`Device.TYPE_*` of Health Connect); by its name if the type is unknown.
        package init(type: Int64?, name: String) {
            switch type ?? 0 {
            case 0: self.init(name: name)
            case 1: self = .watch
            case 2: self = .phone
            case 4, 6: self = .bandOrRing
            default: self = .other
            }
        }
    }

    /// The place of a source.
    /// - Parameters:
    ///   - name: by which it is known again.
    ///   - otherNames: by which the configuration may name it, too.
    ///   - isMerged: whether the app has put several sources together, this one with others. That comes before it alone.
    package func origin(
        of name: String, _ kind: Kind, otherNames: [String] = [], isMerged: Bool = false
    ) -> SampleOrigin {
        let place = names.firstIndex { $0 == name || otherNames.contains($0) } ?? Self.unnamed + kind.rawValue
        return SampleOrigin(place: place * 2 + (isMerged ? 0 : 1), name: name)
    }

    /// Why a source has its place: since the configuration names it, or by what it is.
    package static func reason(of origin: SampleOrigin) -> String {
        switch Kind(rawValue: origin.place / 2 - unnamed) {
        case nil: "named in sources"
        case .watch: "a watch"
        case .bandOrRing: "a band or ring"
        case .phone: "a phone"
        case .other: "another"
        }
    }

    /// The source of records that name none: behind all others.
    package static let nameless = SampleOrigin(place: (unnamed + Kind.other.rawValue + 1) * 2, name: "")
}
