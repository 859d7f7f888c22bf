import Foundation
import Gateway
import ServiceLifecycle
import TestSupport
import Testing
import Vitals

/// The gateway as shipped, of which only the import of statistics runs.
@Suite(.timeLimit(.minutes(1))) struct StatisticsProbeTests {
    @Test func `the import of statistics is asked while it runs`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "statistics-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Nothing listens at this port.
        let text = """
            mqtt: {url: mqtt://127.0.0.1:1}
            store: {path: "\(folder.appending(path: "vitals.sqlite").path)"}
            devices: []
            home_assistant: {url: "http://127.0.0.1:1", token: {env: TOKEN}}
            """
        let configuration = try load(text, environment: ["TOKEN": "abc.def"])
        let log = LogRecorder()
        let gateway = try await GatewayServices.standard(
            configuration, { () throws(ConfigurationError) in configuration }, log.logger)
        let service = try #require(gateway.services.first { $0.name == "statistics" }).service
        #expect(gateway.passing.probes.isEmpty)
        try await withThrowingTaskGroup { group in
            group.addTask { try await service.run() }
            try await log.wait { $0.contains { $0.message == "No statistics are imported for now." } }
            let probes = gateway.passing.probes
            #expect(probes.map(\.part) == [.statistics])
            for probe in probes { await probe.ask() }
            group.cancelAll()
        }
        #expect(gateway.passing.probes.isEmpty)
    }
}
