import GatewayKit
import Vitals

/// The `options:` of a phone.
///
/// - `metrics`: what is taken of its documents, and announced to consumers; all that the app has when left out.
/// - `source`, or `app` where apps write the records: the one whose counts are taken; those of all when left out.
struct PhoneOptions: Sendable, Hashable {
    var metrics: [Metric]
    /// Whose counts are taken; `nil` for those of all.
    var source: String?

    /// Reads the options of a phone with an app that has `known` metrics, and names its sources by the option `sourceOption`.
    init(_ options: inout ConfigurationReader, known: [Metric], sourceOption: String) {
        metrics = known
        source = options.optionalString(sourceOption)
        guard let names = options.oneOrMoreStrings("metrics", limit: known.count) else { return }
        metrics = names.compactMap { name in
            if let metric = known.first(where: { $0.rawValue == name }) { return metric }
            let choice = known.map(\.rawValue).joined(separator: ", ")
            options.report("The app has no \(name). It has \(choice).", at: "metrics")
            return nil
        }
    }

    init(metrics: [Metric], source: String? = nil) {
        self.metrics = metrics
        self.source = source
    }
}
