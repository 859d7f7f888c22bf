import Foundation
package import GatewayKit
package import Vitals

/// Finds the plugin that knows a file, and says what the file has. No plugin is a special case: each may bring a `SourceInspector`.
package struct SourceFinder: Sendable {
    private let inspectors: [any SourceInspector.Type]

    /// Asks these plugins, in their order.
    package init(_ plugins: PluginCatalogue) { inspectors = plugins.plugins.compactMap { $0.sources } }

    /// What is at a path, by the first plugin that knows it.
    package func find(_ path: String, calendar: LocalCalendar, now: Timestamp) throws(ToolFailure) -> SourceReport {
        guard FileManager.default.fileExists(atPath: path) else {
            throw ToolFailure("There is no \(path).\n")
        }
        var reason: String?
        for inspector in inspectors {
            do throws(SourceError) {
                if let report = try inspector.inspect(path, calendar: calendar, now: now) { return report }
            } catch { reason = reason ?? error.description }
        }
        let known = inspectors.map { "  - \($0.takes)\n" }.joined()
        throw ToolFailure(
            "\(reason ?? "No plugin knows \(path).") It must be one of these, or a folder with one:\n\(known)")
    }
}
