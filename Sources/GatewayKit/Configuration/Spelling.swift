/// Finds what was probably meant by a word that is not known.
package enum Spelling {
    /// The most words that are proposed.
    package static let maximumProposals = 3
    /// The most letters of a text that is compared: no key or name is longer.
    package static let maximumLength = 64

    /// A question with what was probably meant; `nil` if nothing is near.
    package static func hint(for text: String, in words: some Sequence<String>) -> String? {
        let near = Self.near(to: text, in: words)
        return near.isEmpty ? nil : "Did you mean \(near.joined(separator: " or "))?"
    }

    /// The words that differ least: by a third of their letters at most, or else those that begin with the text, or that the text
    /// begins with. At most `maximumProposals`, in alphabetical order.
    package static func near(to text: String, in words: some Sequence<String>) -> [String] {
        let wanted = text.lowercased()
        var best: (distance: Int, words: [String]) = (.max, [])
        var related: [String] = []
        for word in Set(words) {
            let other = word.lowercased()
            if min(wanted.count, other.count) >= 3, other.hasPrefix(wanted) || wanted.hasPrefix(other) {
                related.append(word)
            }
            guard wanted.count <= maximumLength, abs(wanted.count - other.count) <= max(wanted.count, other.count) / 3
            else {
                continue
            }
            let distance = Self.distance(Array(wanted), Array(other))
            guard distance <= max(1, max(wanted.count, other.count) / 3) else { continue }
            if distance < best.distance { best = (distance, []) }
            if distance == best.distance { best.words.append(word) }
        }
        return Array((best.words.isEmpty ? related : best.words).sorted().prefix(maximumProposals))
    }

    /// How many letters are to be inserted, removed, replaced or swapped with the next one (optimal string alignment).
    private static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var rows = [Array(0...b.count)]
        for (i, letter) in a.enumerated() {
            var row = [i + 1]
            for (j, other) in b.enumerated() {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (letter == other ? 0 : 1))
                if i > 0, j > 0, letter == b[j - 1], a[i - 1] == other { least = min(least, rows[i - 1][j - 1] + 1) }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
