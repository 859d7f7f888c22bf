import GatewayKit
import Vitals

/// The `options:` of a phone.
///
/// - `metrics`: what is taken of its documents, and announced to consumers; all that the app has when left out.
struct PhoneOptions: Sendable, Hashable {
    var metrics: [Metric]

    /// Reads the options of a phone with an app that has `known` metrics.
    init(_ options: inout ConfigurationReader, known: [Metric]) {
        metrics = known
        guard let names = options.oneOrMoreStrings("metrics", limit: known.count) else { return }
        metrics = names.compactMap { name in
            if let metric = known.first(where: { $0.rawValue == name }) { return metric }
            let choice = known.map(\.rawValue).joined(separator: ", ")
            options.report("The app has no \(name). It has \(choice).", at: "metrics")
            return nil
        }
    }

    init(metrics: [Metric]) { self.metrics = metrics }
}
