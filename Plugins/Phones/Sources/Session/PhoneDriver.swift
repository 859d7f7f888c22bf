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
        guard App.hasExports, options.has("export") else {
            if App.hasExports {
                options.describe(
                    "export", "path", about: "An export of Apple's Health app, or a folder whose newest counts.")
            }
            input = nil
            return
        }
        let path = options.path("export", about: "An export of Apple's Health app, or a folder whose newest counts.")
        options.describe("export", "path", about: "An export of Apple's Health app, or a folder whose newest counts.")
        let input = ExportInput(path: path)
        if input.place.isMissing { options.warn(input.place.absence, at: "export") }
        self.input = input
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
        metrics = known
        source = options.optionalString(
            sourceOption,
            about: "The only one whose counts, or glucose, are taken; without it each interval's first of `sources`.")
        order = SourceOrder(&options)
        let texts = options.oneOrMoreStrings("metrics", limit: known.count)
        options.describe(
            "metrics", "some of \(known.map(\.rawValue).joined(separator: ", "))", default: "all",
            about: "What is taken of its documents.")
        guard let names = texts else { return }
        metrics = names.compactMap { name in
            if let metric = known.first(where: { $0.rawValue == name }) { return metric }
            let choice = known.map(\.rawValue).joined(separator: ", ")
            options.report("The app has no \(name). It has \(choice).", at: "metrics")
            return nil
        }
    }

    init(metrics: [Metric], source: String? = nil, order: SourceOrder = SourceOrder()) {
        self.metrics = metrics
        self.source = source
        self.order = order
    }
}
