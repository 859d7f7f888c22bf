package import GatewayKit
import JSON
package import Vitals

/// The documents of anybody's script: `{"samples": […], "sleeps": […], "workouts": […], "alerts": […]}`, as
/// `documents.schema.json` describes them. Its answers say what became of each entry.
package enum ScriptDocument: PhoneApp {
    package static let driver = "documents"
    package static let name = "Script"
    /// What a script says again counts in its newest form; what it sends again changes nothing, and a part of a count does not
    /// count beside the whole.
    package static let overlaps = OverlapRule.newest
    package static let sourceOption = "source"
    package static let hasWarnings = true
    /// All that have a history: a script may have any of them.
    package static let metrics: [Metric] = Metric.allCases.filter(\.hasHistory)

    package static func records(
        of document: [UInt8], calendar: LocalCalendar, source: String?, order: SourceOrder
    ) throws(DocumentProblem) -> any RecordStream {
        let contents: Contents
        do throws(JSONError) {
            // All of it is checked before anything of it is stored.
            var check = JSONReader(document)
            try check.skip()
            try check.expectEnd()
            contents = try Contents(document)
        } catch {
            throw DocumentProblem(error)
        }
        if let problem = contents.problem { throw problem }
        return ScriptRecords(contents, of: document, sources: CountSources(source, order: order))
    }

    /// The lists of a document, found without reading them.
    struct Contents {
        private static let names = ScriptList.allCases.map(\.rawValue).joined(separator: ", ")
        private static let expected = DocumentProblem(
            "The document is none of a script: {\"samples\": [{\"metric\": \"weight\", \"value\": 71.2, \"time\": …}]} is "
                + "expected, with some of \(names).")

        var lists: [(list: ScriptList, range: Range<Int>)] = []
        /// The source of entries that name none.
        var source: String?
        /// The first thing that is wrong with the document itself.
        var problem: DocumentProblem?

        init(_ document: [UInt8]) throws(JSONError) {
            var reader = JSONReader(document)
            guard try reader.looseObject() else {
                problem = Self.expected
                return
            }
            while let key = try reader.nextKey() {
                let kind = try reader.peek()
                let range = try reader.raw()
                if let list = ScriptList(rawValue: key) {
                    if kind != .array { note(.noList(key)) }
                    if lists.contains(where: { $0.list == list }) { note("\(key) is there twice") }
                    if lists.count < ScriptList.allCases.count { lists.append((list, range)) }
                } else if key == "source" {
                    if source != nil { note("source is there twice") }
                    do throws(EntryProblem) { source = try EntryMembers.source(at: range, of: document) } catch {
                        note("source \(error.reason)")
                    }
                } else if key != "$schema" {
                    note("\(key.quoted) is unknown; known are \(Self.names) and source")
                }
            }
            if lists.isEmpty { note(Self.expected) }
        }

        private mutating func note(_ found: DocumentProblem) { problem = problem ?? found }

        private mutating func note(_ found: String) { note(DocumentProblem("The document cannot be read: \(found).")) }
    }
}

/// The records of a script's document, list by list.
struct ScriptRecords: RecordStream {
    private let document: [UInt8]
    private let contents: ScriptDocument.Contents
    private var place = 0
    /// Within the array of the list, with the number of its next entry.
    private var reader: JSONReader?
    private var number = 0
    private(set) var sources: CountSources
    private(set) var path: String?
    var isTest: Bool { false }

    init(_ contents: ScriptDocument.Contents, of document: [UInt8], sources: CountSources) {
        (self.contents, self.document, self.sources) = (contents, document, sources)
    }

    mutating func next() throws(DocumentProblem) -> Record? {
        do throws(JSONError) { return try nextEntry() } catch { throw DocumentProblem(error) }
    }

    private mutating func nextEntry() throws(JSONError) -> Record? {
        while place < contents.lists.count {
            let (list, range) = contents.lists[place]
            if reader == nil {
                var opened = JSONReader(document, range: range)
                try opened.beginArray()
                (reader, number) = (opened, 0)
            }
            guard var entries = reader, try entries.nextElement() else {
                reader = nil
                place += 1
                continue
            }
            let entry = try entries.raw()
            reader = entries
            path = "\(list.rawValue)[\(number)]"
            number += 1
            return record(of: list, at: entry)
        }
        return nil
    }

    private mutating func record(of list: ScriptList, at range: Range<Int>) -> Record {
        do throws(EntryProblem) {
            let members = try EntryMembers(at: range, of: document, known: list.members)
            let record = try list.record(of: members)
            let name = try members.source() ?? contents.source
            if case .sample(let sample) = record, sample.metric.shape == .count,
                let reason = sources.skip(sample.metric.rawValue, from: name)
            {
                return .skipped(reason)
            }
            let source = name.map { NamedSource(name: $0, kind: SourceOrder.Kind(name: $0)) }
            return record.from(sources.origin(of: source))
        } catch {
            return .refused(member: error.member, reason: error.reason)
        }
    }
}
