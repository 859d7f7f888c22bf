package import GatewayKit
import Vitals

/// Reads the documents of an app. A session ends when no further document comes.
package struct PhoneDriver<App: PhoneApp>: DeviceDriver {
    package static var name: String { App.driver }
    package static var link: LinkKind { .documents }

    private let options: PhoneOptions
    private let emptyDocuments = EmptyDocuments()
    private let sentAlerts = SentAlerts()
    /// The phone's own exports.
    private let input: ExportInput?

    package init(options: inout ConfigurationReader) {
        self.options = PhoneOptions(&options, known: App.metrics, sourceOption: App.sourceOption)
        guard App.hasExports else {
            input = nil
            return
        }
        let about = "An export of Apple's Health app, or a folder whose newest counts."
        input = options.has("export") ? ExportInput(path: options.path("export", about: about)) : nil
        options.describe("export", "path", about: about)
        if let place = input?.place, place.isMissing { options.warn(place.absence, at: "export") }
    }

    /// A driver that takes these metrics.
    init(
        metrics: [Metric] = App.metrics, source: String? = nil, order: SourceOrder = SourceOrder(),
        export: String? = nil
    ) {
        options = PhoneOptions(metrics: metrics, source: source, order: order)
        input = export.map { ExportInput(path: $0) }
    }

    package func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        guard case .documents(let documents) = link else {
            throw DeviceError(.failure, "The driver \(App.driver) needs a link for documents.")
        }
        let session = PhoneSession<App>(options, emptyDocuments, sentAlerts, context, input)
        try await session.run(over: documents, body)
    }
}

extension PhoneDriver: WorkingDriver {
    package var mayHaveWork: Bool { input != nil }

    /// Waits for an export that was not taken before.
    package func waitForWork(context: SessionContext) async {
        while let input, !Task.isCancelled {
            var pause = ExportInput.interval
            switch try? input.check(at: context.clock.uptime, preview: true) {
            case .retryAfter(let time): pause = time
            case .found(let stamp):
                // What is wrong with it is said in the session.
                guard await isTaken(stamp, context) else { return }
                input.markChecked(stamp)
            // That nothing is there is said in a session, too.
            case .nothing, nil: break
            }
            try? await context.clock.sleep(for: pause)
        }
    }

    private func isTaken(_ stamp: FileStamp, _ context: SessionContext) async -> Bool {
        guard let bytes = try? ExportBytes(stamp), let notes = try? await context.notes.all() else { return false }
        var mark = ExportMark(bytes, metrics: Set(options.metrics), source: options.source)
        mark.resume(from: notes[ExportInput.note])
        return mark.isDone
    }
}

/// The `options:` of a phone.
///
/// - `metrics`: what is taken of its documents, and announced to consumers; all that the app has when left out.
/// - `source`, or `app` where apps write the records: the only one whose counts are taken; those of all when left out.
/// - `sources`: of several, which counts an interval.
struct PhoneOptions: Sendable, Hashable {
    var metrics: [Metric]
    /// Whose counts are taken; `nil` for those of all.
    var source: String?
    /// Which of several sources counts an interval.
    var order = SourceOrder()

    /// Reads the options of a phone with an app that has `known` metrics, and names its sources by the option `sourceOption`.
    init(_ options: inout ConfigurationReader, known: [Metric], sourceOption: String) {
        source = options.optionalString(
            sourceOption,
            about: "The only one whose counts, or glucose, are taken; without it each interval's first of `sources`.")
        order = SourceOrder(&options)
        metrics = options.metrics(of: known, about: "What is taken of its documents.") {
            "The app has no \($0). It has \($1)."
        }
    }

    init(metrics: [Metric], source: String? = nil, order: SourceOrder = SourceOrder()) {
        self.metrics = metrics
        self.source = source
        self.order = order
    }
}

extension ConfigurationReader {
    /// Reads `metrics`: some of those that a source can have, or all of them.
    /// - Parameter refusal: what to say of another name, with the choice.
    mutating func metrics(
        of known: [Metric], about: String, refusal: (_ name: String, _ choice: String) -> String
    ) -> [Metric] {
        let choice = known.map(\.rawValue).joined(separator: ", ")
        let names = oneOrMoreStrings("metrics", limit: known.count)
        describe("metrics", "some of \(choice)", default: "all", about: about)
        guard let names else { return known }
        return names.compactMap { name in
            let metric = known.first { $0.rawValue == name }
            if metric == nil { report(refusal(name, choice), at: "metrics") }
            return metric
        }
    }
}
