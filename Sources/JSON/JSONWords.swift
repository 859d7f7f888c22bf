/// A fixed set of words, as keys of an object or as values, which a reader recognises without creating a `String`.
///
/// Create it once, as a constant: `static let keys = JSONWords(of: Key.self)`.
package struct JSONWords<Word: Sendable>: Sendable {
    @usableFromInline let index: JSONWordIndex
    @usableFromInline let words: [Word]

    /// A set of texts, each with its word. The first of duplicate texts wins.
    package init(_ words: [(text: String, word: Word)]) {
        self.index = JSONWordIndex(words.map { Array($0.text.utf8) })
        self.words = words.map(\.word)
    }
}

extension JSONWords where Word: CaseIterable & RawRepresentable, Word.RawValue == String {
    /// All cases of an enumeration, by raw value.
    package init(of type: Word.Type) {
        self.init(type.allCases.map { (text: $0.rawValue, word: $0) })
    }
}

/// The words of a `JSONWords`, in a hash table that is at most a quarter full.
@usableFromInline
struct JSONWordIndex: Sendable {
    /// All words, concatenated: an array of arrays would cost a reference count per look-up.
    private let text: [UInt8]
    private let ranges: [Range<Int>]
    private let slots: [Int]
    private let mask: UInt32

    init(_ words: [[UInt8]]) {
        var size = 8
        while size < words.count * 4 { size *= 2 }
        var text: [UInt8] = []
        var ranges: [Range<Int>] = []
        var slots = [Int](repeating: -1, count: size)
        mask = UInt32(size - 1)
        for (position, word) in words.enumerated() {
            ranges.append(text.count..<text.count + word.count)
            text += word
            var slot = Int(Self.slot(Self.hash(word), mask))
            while slots[slot] >= 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = position
        }
        self.text = text
        self.ranges = ranges
        self.slots = slots
    }

    /// Adds a byte to a hash. The hash of the empty word is 0.
    @inline(__always)
    static func step(_ hash: UInt32, _ byte: UInt8) -> UInt32 { hash &* 31 &+ UInt32(byte) }

    static func hash(_ word: [UInt8]) -> UInt32 { word.reduce(0) { step($0, $1) } }

    private static func slot(_ hash: UInt32, _ mask: UInt32) -> UInt32 { (hash ^ hash >> 11) & mask }

    /// The position of the word in `range` of `bytes`; -1 if there is none.
    func find(_ bytes: [UInt8], _ range: Range<Int>, hash: UInt32) -> Int {
        var slot = Int(Self.slot(hash, mask))
        while slots[slot] >= 0 {
            let word = ranges[slots[slot]]
            if word.count == range.count {
                var offset = 0
                while offset < word.count, text[word.lowerBound + offset] == bytes[range.lowerBound + offset] {
                    offset += 1
                }
                if offset == word.count { return slots[slot] }
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return -1
    }
}
