import CExpat
import Glibc

/// What a parser hands on of the elements below the root.
protocol ElementReader: AnyObject {
    /// An element begins, at a depth from 1 below the root.
    func begin(_ name: String, _ attributes: AttributeList, depth: Int)
    /// An element of this depth ends.
    func end(_ name: String, depth: Int)
    /// What began last at depth 1 does not count: it is broken.
    func drop()
}

/// Parses the XML of an export of Apple's Health app piece by piece, with expat.
///
/// Apple's XML is not always well-formed: since iOS 16 the document type has a broken list of attributes, and texts have control
/// characters. All before the root is skipped unread, so that no entity is ever declared. A character that XML forbids becomes a space. Where the
/// parser fails, it begins anew at the next element below the root.
final class ElementParser {
    /// The most bytes of one tag: a hundred times as many as a record of Apple's has.
    static let longestTag = 64 * 1024
    /// The most bytes before the root: Apple's document type has some 10 KiB.
    static let longestProlog = 1024 * 1024
    /// The elements below the root of which each may begin anew.
    private static let names: Set<String> = [
        "Record", "Workout", "Correlation", "ActivitySummary", "ClinicalRecord", "Audiogram", "VisionPrescription",
    ]
    private static let root = Array("<HealthData".utf8)
    private static let starts = names.map { Array("<\($0)".utf8) } + [Array("</HealthData".utf8)]
    private static let longestStart = starts.map(\.count).max() ?? 0

    private enum State { case prolog, parsing, seeking, ended }
    private var state = State.prolog
    private var parser: XML_Parser?
    /// It owns the parser.
    private unowned let reader: any ElementReader
    /// What was not parsed yet of the pieces before.
    private var rest: [UInt8] = []
    /// Where the bytes begin that the parser got.
    private var base: Int64 = 0
    private var depth = 0
    private var isInCorrelation = false
    /// Whether the element below the root is too long.
    private var isSkipped = false
    /// Where an element began that may not be there.
    private var misplaced: Int64?
    /// Where the parser began.
    private var began: Int64 = 0

    /// Where the last element below the root ended, in bytes from the beginning.
    private(set) var position: Int64
    /// How often it was not well-formed.
    private(set) var broken = 0
    /// How many tags were too long.
    private(set) var tooLong = 0
    /// How many characters XML forbids.
    private(set) var forbidden = 0
    /// Whether the root has ended.
    var isComplete: Bool { state == .ended }
    /// Whether the root was found.
    var hasRoot: Bool { state != .prolog }

    /// A parser that begins at the first byte, or at an element below the root.
    init(from position: Int64, _ reader: any ElementReader) {
        self.position = position
        self.reader = reader
        if position > 0 { state = .seeking }
    }

    deinit { XML_ParserFree(parser) }

    /// Parses the next bytes, which begin at a position.
    /// - Throws: `foreign` if they are not of Apple's Health app.
    func parse(_ piece: [UInt8], at position: Int64) throws(ExportError) {
        guard state != .ended else { return }
        let start = position - Int64(rest.count)
        var bytes = rest + piece
        let isFresh = rest.count
        rest = []
        forbidden += Self.replaceForbidden(in: &bytes, from: isFresh)
        var place = 0
        while place < bytes.count {
            switch state {
            case .ended: return
            case .prolog:
                guard let found = Self.find([Self.root], in: bytes, from: place) else {
                    guard start + Int64(bytes.count) <= Self.longestProlog else {
                        throw ExportError(.foreign, "This is no export of Apple Health: it has no HealthData.")
                    }
                    rest = Array(bytes.suffix(Self.root.count))
                    return
                }
                place = found
                begin(at: start + Int64(found))
            case .seeking:
                guard let found = Self.find(Self.starts, in: bytes, from: place) else {
                    rest = Array(bytes[max(place, bytes.count - Self.longestStart)...])
                    return
                }
                place = found
                begin(at: start + Int64(found) - Int64(Self.root.count + 1))
                began = start + Int64(found)
                _ = (Self.root + [UInt8(ascii: ">")]).withUnsafeBytes { feed($0) }
            case .parsing:
                // What is behind the last tag waits for its end, so that a tag is never divided.
                let end = bytes.lastIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? 0
                guard end > place else {
                    rest = Array(bytes[place...])
                    guard rest.count > Self.longestTag else { return }
                    tooLong += 1
                    abandon()
                    // Its beginning must not be found again.
                    rest.removeFirst()
                    return
                }
                // Below the root neither comments nor other sections are Apple's: one without its end would hide all that follows.
                let strange = Self.strange(in: bytes, from: place)
                let stop = min(end, strange ?? end)
                let isGood =
                    stop == place || bytes.withUnsafeBytes { feed(UnsafeRawBufferPointer(rebasing: $0[place..<stop])) }
                if isGood, stop == end {
                    place = end
                    continue
                }
                guard state != .ended else { return }
                broken += 1
                place = isGood ? stop + 2 : min(max(place, Int(failure - start)), end)
                abandon()
            }
        }
    }

    /// Replaces the characters that XML forbids by spaces, and returns how many there were.
    private static func replaceForbidden(in bytes: inout [UInt8], from start: Int) -> Int {
        var count = 0
        bytes.withUnsafeMutableBytes { bytes in
            var place = start
            while place < bytes.count {
                // Eight at once: whether one of them is below 0x20 (a subtraction borrows from its highest bit).
                if place + 8 <= bytes.count {
                    let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                    if (word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080 == 0 {
                        place += 8
                        continue
                    }
                }
                for next in place..<min(place + 8, bytes.count)
                where bytes[next] < 0x20 && bytes[next] != 0x09 && bytes[next] != 0x0a && bytes[next] != 0x0d {
                    bytes[next] = 0x20
                    count += 1
                }
                place += 8
            }
        }
        return count
    }

    private func begin(at position: Int64) {
        XML_ParserFree(parser)
        parser = XML_ParserCreate("UTF-8")
        (base, depth, state, isInCorrelation, isSkipped) = (position, 0, .parsing, false, false)
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { data, name, attributes in
                guard let data, let name else { return }
                Unmanaged<ElementParser>.fromOpaque(data).takeUnretainedValue().begin(
                    String(cString: name), AttributeList(list: attributes))
            },
            { data, name in
                guard let data, let name else { return }
                Unmanaged<ElementParser>.fromOpaque(data).takeUnretainedValue().end(String(cString: name))
            })
    }

    private func abandon() {
        if depth > 1 { reader.drop() }
        (state, misplaced) = (.seeking, nil)
    }

    private func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        XML_Parse(parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), 0)
            != XML_STATUS_ERROR
    }

    /// Where to seek the next element after a failure: at the wrong character, which may begin it, or behind the beginning of what is wrong.
    private var failure: Int64 {
        let found = base + Int64(XML_GetCurrentByteIndex(parser))
        let isCharacter = XML_GetErrorCode(parser) == XML_ERROR_INVALID_TOKEN
        return misplaced ?? max(isCharacter ? found : found + 1, began + 1)
    }

    private func begin(_ name: String, _ attributes: AttributeList) {
        let isNested = depth > 1 && !(depth == 2 && isInCorrelation && name == "Record")
        if isNested, Self.names.contains(name) {
            // The element around it has no end.
            misplaced = base + Int64(XML_GetCurrentByteIndex(parser))
            XML_StopParser(parser, 0)
            return
        }
        if depth == 1 { isInCorrelation = name == "Correlation" }
        defer { depth += 1 }
        guard XML_GetCurrentByteCount(parser) <= Self.longestTag else {
            tooLong += 1
            if depth == 1 { isSkipped = true }
            return
        }
        if depth > 0, !isSkipped { reader.begin(name, attributes, depth: depth) }
    }

    private func end(_ name: String) {
        guard misplaced == nil else { return }
        depth -= 1
        if depth > 0, !isSkipped { reader.end(name, depth: depth) }
        if depth <= 1 { isSkipped = false }
        if depth <= 1 {
            position = base + Int64(XML_GetCurrentByteIndex(parser)) + Int64(XML_GetCurrentByteCount(parser))
        }
        if depth == 0 { state = .ended }
    }

    /// Where `<!` stands.
    private static func strange(in bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            var place = start + 1
            while place < bytes.count, let found = memchr(base + place, Int32(UInt8(ascii: "!")), bytes.count - place) {
                place = UnsafeRawPointer(found) - base
                if bytes[place - 1] == UInt8(ascii: "<") { return place - 1 }
                place += 1
            }
            return nil
        }
    }

    /// Where one of these texts begins, followed by the end of a name.
    private static func find(_ texts: [[UInt8]], in bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBufferPointer { bytes in
            var place = start
            while place < bytes.count {
                guard bytes[place] == UInt8(ascii: "<") else {
                    place += 1
                    continue
                }
                for text in texts where place + text.count < bytes.count {
                    let next = bytes[place + text.count]
                    guard next <= 0x20 || next == UInt8(ascii: ">") || next == UInt8(ascii: "/") else { continue }
                    if bytes[place..<place + text.count].elementsEqual(text) { return place }
                }
                place += 1
            }
            return nil
        }
    }
}
