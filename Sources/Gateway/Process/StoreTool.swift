import GatewayKit
import Store
import Vitals

/// The commands for the owner of a store. The results are texts for a person.
package struct StoreTool: Sendable {
    private let path: String

    /// The store at a path.
    package init(path: String) { self.path = path }

    /// The store of a configuration, of which nothing else is checked: a service's secrets are there only while it runs, and
    /// a store is checked, or restored, mostly while it does not.
    /// - Throws: `ConfigurationError` if the file cannot be read, is no YAML, or has an error in `store`.
    package init(configuration file: String) throws(ConfigurationError) {
        path = try ConfigurationLoader.store(in: file).path
    }

    /// Copies the store to a new file, while a gateway may be running.
    package func back(upTo file: String) throws(ToolFailure) -> String {
        do throws(StoreError) { try StoreCopy.back(up: path, to: file) } catch {
            throw ToolFailure("\(error)")
        }
        return "\(file) is a copy of \(path).\n"
    }

    /// Puts a copy in the place of the store.
    package func restore(_ file: String) throws(ToolFailure) -> String {
        var generator = SystemRandomNumberGenerator()
        do throws(StoreError) {
            let moved = try StoreCopy.restore(
                file, to: path, now: GatewayClock.system.now, newIdentity: SampleID(random: &generator))
            return "\(path) is restored.\n" + (moved.map { "The store before it is \($0).\n" } ?? "")
        } catch {
            throw ToolFailure("\(error)")
        }
    }

    /// Checks the whole store. Returns whether it is sound.
    package func check() throws(ToolFailure) -> (text: String, isSound: Bool) {
        let findings: [String]
        do throws(StoreError) { findings = try StoreCheck.findings(in: path) } catch {
            throw ToolFailure("\(error)")
        }
        guard !findings.isEmpty else { return ("\(path) is sound.\n", true) }
        return ("\(path) is damaged:\n" + findings.map { "  \($0)\n" }.joined(), false)
    }

    /// Says what is in the store.
    package func info() throws(ToolFailure) -> String {
        let inspection: StoreInspection
        do throws(StoreError) { inspection = try StoreInspection(of: path) } catch {
            throw ToolFailure("\(error)")
        }
        var lines = [
            "path      \(path)", "version   \(inspection.version)", "identity  \(inspection.identity)",
            "bytes     \(inspection.bytes)",
            "waiting   " + inspection.waiting.map { "\($0.lane.name) \($0.messages)" }.joined(separator: ", "),
        ]
        for series in inspection.series {
            var line = "\(series.device) \(series.metric): \(Self.counts(samples: series.samples, days: series.days))"
            if let oldest = series.oldest, let newest = series.newest { line += ", \(oldest) to \(newest)" }
            lines.append(line)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// How many samples and summaries there are, in words.
    static func counts(samples: Int, days: Int) -> String {
        "\(samples) \(samples == 1 ? "sample" : "samples"), \(days) daily \(days == 1 ? "summary" : "summaries")"
    }
}
