package import GatewayKit
import JSON
import Vitals

/// The values that must not appear in a recording: secrets, and addresses that identify a device.
///
/// Secrets and names that the configuration has become asterisks, also as JSON escapes them. Addresses of Bluetooth and Ethernet (IEEE 802
/// MAC) become zeros: those in text (`AddressText`) are recognised wherever they appear, and those that the configuration names also
/// without separators and as six bytes in either order. The number of bytes stays the same.
package struct Mask: Sendable {
    /// A shorter secret is not masked: three letters would be found in everything.
    package static let shortestSecret = 4
    /// A longer secret is not masked: it is a certificate, which no device sends.
    package static let longestSecret = 4_096

    /// Bytes that must not appear.
    struct Pattern: Sendable, Hashable {
        var bytes: [UInt8]
        var replacement: UInt8
    }
    let patterns: [Pattern]

    /// A mask for these secrets and names, and for these addresses beside those that are recognised in any text.
    ///
    /// A name of small letters only, such as `anna` or `steps`, may be a word of a protocol, and is not masked.
    package init(secrets: [String] = [], names: [String] = [], addresses: [String] = []) {
        var patterns: Set<Pattern> = []
        let texts = secrets + names.filter { !$0.utf8.allSatisfy(Self.isOfWord) }
        for text in texts where (Self.shortestSecret...Self.longestSecret).contains(text.utf8.count) {
            for bytes in [Array(text.utf8), Self.escaped(text, asASCII: false), Self.escaped(text, asASCII: true)] {
                patterns.insert(Pattern(bytes: bytes, replacement: UInt8(ascii: "*")))
            }
        }
        for address in addresses {
            let digits = address.filter(\.isHexDigit)
            guard digits.utf8.count == 12, let bytes = Hexadecimal.bytes(digits) else { continue }
            for text in [digits.lowercased(), digits.uppercased()] {
                patterns.insert(Pattern(bytes: Array(text.utf8), replacement: UInt8(ascii: "0")))
            }
            for order in [bytes, bytes.reversed()] { patterns.insert(Pattern(bytes: order, replacement: 0)) }
        }
        // The longest first: a secret may contain another one.
        self.patterns = patterns.sorted {
            ($1.bytes.count, Hexadecimal.text($0.bytes)) < ($0.bytes.count, Hexadecimal.text($1.bytes))
        }
    }

    /// Masks a value that is complete in itself.
    package func masking(_ bytes: [UInt8]) -> RecordedBytes {
        var masked = bytes
        let found = matches(in: bytes)
        for match in found { cover(&masked, match) }
        return RecordedBytes(masked, masked: found.map(\.range))
    }

    /// Masks the message of an error, which may name an address.
    package func masking(_ error: LinkError) -> LinkError {
        LinkError(error.code, String(decoding: masking(Array(error.message.utf8)).bytes, as: UTF8.self))
    }

    /// Masks the message of an error.
    package func masking(_ error: GATTError) -> GATTError {
        if case .link(let error) = error { .link(masking(error)) } else { error }
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || byte == UInt8(ascii: "_")
    }

    /// The text within a JSON string (RFC 8259, section 7), with everything beyond ASCII as `\uXXXX` where `asASCII`.
    private static func escaped(_ text: String, asASCII: Bool) -> [UInt8] {
        let inner = Array(JSONValue.string(text).bytes.dropFirst().dropLast())
        guard asASCII else { return inner }
        return String(decoding: inner, as: UTF8.self).utf16.flatMap { unit -> [UInt8] in
            if unit < 0x80 { return [UInt8(unit)] }
            return Array("\\u".utf8) + Array(Hexadecimal.text([UInt8(unit >> 8), UInt8(unit & 0xff)]).utf8)
        }
    }

    /// A part of some bytes that must not appear.
    struct Match {
        var range: Range<Int>
        /// What takes its place; `nil` for an address in text, whose digits become zeros.
        var replacement: UInt8?
    }

    /// Every part of these bytes that must not appear, in order and apart.
    func matches(in bytes: [UInt8]) -> [Match] {
        var found: [Match] = []
        var index = 0
        while index < bytes.count {
            let rest = bytes[index...]
            let match: Match? =
                if let pattern = patterns.first(where: { rest.starts(with: $0.bytes) }) {
                    Match(range: index..<index + pattern.bytes.count, replacement: pattern.replacement)
                } else if AddressText.progress(of: rest) == AddressText.length {
                    Match(range: index..<index + AddressText.length, replacement: nil)
                } else {
                    nil
                }
            if let match { found.append(match) }
            index = match?.range.upperBound ?? index + 1
        }
        return found
    }

    /// How many bytes at the end, from `start` on, may be the beginning of something that must not appear.
    func beginning(in bytes: [UInt8], from start: Int) -> Int {
        for index in start..<max(start, bytes.count) {
            let rest = bytes[index...]
            let isPattern = patterns.contains { $0.bytes.count > rest.count && $0.bytes.starts(with: rest) }
            let isAddress = rest.count >= AddressText.shortestBeginning && AddressText.progress(of: rest) == rest.count
            if isPattern || isAddress { return rest.count }
        }
        return 0
    }

    /// How many bytes at the end, from `start` on, may begin an address, but are too few to be held back for it.
    func shortBeginning(in bytes: [UInt8], from start: Int) -> Int {
        let first = max(start, bytes.count - AddressText.shortestBeginning + 1)
        guard first < bytes.count else { return 0 }
        let index = (first..<bytes.count).first { AddressText.progress(of: bytes[$0...]) == bytes.count - $0 }
        return index.map { bytes.count - $0 } ?? 0
    }

    /// Replaces what must not appear.
    func cover(_ bytes: inout [UInt8], _ match: Match) {
        for index in match.range {
            if let replacement = match.replacement {
                bytes[index] = replacement
            } else if Hexadecimal.value(of: bytes[index]) != nil {
                bytes[index] = UInt8(ascii: "0")
            }
        }
    }
}

/// Recognises an address in text.
enum AddressText {
    /// Six pairs of digits with separators between them: `:` or `-`, or `_` as in the paths of BlueZ.
    static let length = 17
    /// A shorter end of some bytes is not held back as the beginning of an address: every letter from a to f would be. So the first
    /// two digits, which are a part of the maker's number, appear if a piece ends behind them.
    static let shortestBeginning = 3
    private static let separators = Array(":-_".utf8)

    /// How many of the first bytes, at most `length`, are those of an address.
    static func progress(of bytes: ArraySlice<UInt8>) -> Int {
        var separator: UInt8?
        var count = 0
        for byte in bytes.prefix(length) {
            if count % 3 == 2 {
                guard byte == separator ?? byte, separators.contains(byte) else { break }
                separator = byte
            } else {
                guard Hexadecimal.value(of: byte) != nil else { break }
            }
            count += 1
        }
        return count
    }
}
