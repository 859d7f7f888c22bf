import Concurrency
import Contract
import Foundation
import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Gateway

/// A transport is a part of the gateway while a device has a link or tries to open one.
@Suite(.timeLimit(.minutes(1))) struct TransportProbeTests {
    /// A transport whose links open when the test says so.
    private struct GateTransport: Transport {
        static let name = "gate"
        static let link = LinkKind.gatt
        static let answers = Recorder<Void>()
        static let tried = Recorder<DeviceID>()
        static let end = Promise<Void>()

        init(options: inout ConfigurationReader) {}

        static func answer() async { answers.append(()) }

        func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws {
            Self.tried.append(context.device)
            try await Self.end.wait()
            throw LinkError(.broken, "The test has ended.")
        }
    }

    private enum GatePlugin: Plugin {
        static let name = "Gate"
        static let summary = "A transport for a test."
        static let sample = ""
        static let drivers: [any DeviceDriver.Type] = [RingDriver.self, ToyDriver.self]
        static let transports: [any Transport.Type] = [GateTransport.self]
    }

    @Test func `it is asked once for all its devices, until the last attempt is over`() async throws {
        let text = """
            mqtt: {url: mqtt://h}
            devices:
              - {id: a, driver: ring, transport: {type: gate}}
              - {id: b, driver: ring, transport: {type: gate}}
              - {id: c, driver: toy}
            """
        let loader = ConfigurationLoader(plugins: try PluginCatalogue([GatePlugin.self]), environment: [:])
        let configuration = try loader.load(text: text, directory: "/nowhere")
        let home = try #require(DeviceID("home"))
        let settings = CoreSettings(
            gateway: home.text, version: "0", topics: ContractTopics(gateway: home),
            calendar: LocalCalendar(timeZone: .gmt), clock: .system, logger: LogRecorder().logger)
        let setups = configuration.setups(settings, DescriptorBudget(limit: 1000))
        #expect(settings.passing.probes.isEmpty)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for setup in setups { group.addTask { try? await setup.opener { _ in } } }
            try await GateTransport.tried.wait(until: { $0.count == 2 })
            let probes = settings.passing.probes
            #expect(probes.map(\.part) == [.transport("gate")])
            #expect(probes.allSatisfy { !$0.part.isOptional && $0.part.name == "transport.gate" })
            for probe in probes { await probe.ask() }
            #expect(GateTransport.answers.elements.count == 1)
            GateTransport.end.fulfil(())
            try await group.waitForAll()
        }
        #expect(settings.passing.probes.isEmpty)
    }
}
