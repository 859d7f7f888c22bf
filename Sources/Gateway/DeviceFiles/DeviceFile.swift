import Vitals

/// A file of one device that the program made. Its first line says so, with a checksum of the rest, so that a change by hand shows.
struct DeviceFile: Sendable, Hashable {
    /// Who has the last word about a file.
    enum Author: Sendable, Hashable {
        /// The program: the file is as the program made it.
        case program
        /// A person has changed or renamed what the program made.
        case both
        /// A person alone.
        case person
    }

    /// The file's name in the folder.
    let name: String
    /// All of its text.
    let text: String

    private static let beginning = "# Made by vitals2mqtt (checksum "
    private static let end = "). To change the file by hand, delete this line first: then it is yours."

    /// A file as it was found.
    init(_ name: String, text: String) {
        self.name = name
        self.text = text
    }

    /// The file of a device.
    init(of device: NewDevice) {
        let body = device.document
        name = Self.name(of: device.id)
        text = Self.beginning + Self.checksum(of: body, name) + Self.end + "\n" + body
    }

    /// The name of a device's file. An id has no character that means anything in a path; others are no ids.
    static func name(of device: String) -> String { device + DeviceFolder.ending }

    var author: Author {
        guard text.hasPrefix(Self.beginning) else { return .person }
        guard let newline = text.firstIndex(of: "\n") else { return .both }
        let body = String(text[text.index(after: newline)...])
        let line = Self.beginning + Self.checksum(of: body, name) + Self.end
        return text[..<newline] == line ? .program : .both
    }

    /// It finds a change of a person, and need not resist one who imitates the program.
    private static func checksum(of body: String, _ name: String) -> String { "\(SampleID(name: "\(name)\n\(body)"))" }

    /// How many lines of a file a message shows: an entry has fewer.
    static let shownLines = 40

    /// The text for a message: indented, without what moves a terminal's cursor, and not the whole of a long file.
    var shown: String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let more = lines.count - Self.shownLines
        return lines.prefix(Self.shownLines).map { "  \(String($0).printable)\n" }.joined()
            + (more > 0 ? "  and \(more) more lines\n" : "")
    }
}
