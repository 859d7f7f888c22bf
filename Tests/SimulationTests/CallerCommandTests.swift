import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing
import Vitals

@testable import Gateway

/// Commands of the API and the pages in a whole gateway.
@Suite struct CallerCommandTests {
    /// Sends a command, and returns the status and code of each answer when the final one is there.
    private func ask(
        _ home: Scenario, _ name: String, of device: String?, _ arguments: String
    ) async throws -> [String] {
        let core = try #require(home.core)
        let answers = Recorder<(text: String, isFinal: Bool)>()
        await CoreCommander(of: core).perform(
            name, of: device.flatMap { DeviceID($0) }, arguments: Array(arguments.utf8)
        ) { payload, isFinal in
            let answer = (try? JSONValue(parsing: payload)) ?? .null
            let words = [answer["status"], answer["code"]].compactMap { $0?.asString }
            answers.append((text: words.joined(separator: " "), isFinal: isFinal))
        }
        return try await answers.wait { $0.last?.isFinal == true }.map(\.text)
    }

    @Test func `a caller has the answers of MQTT, and the broker only the states that follow`() throws {
        try Scenario.everyOrder(0..<3, deadline: .minutes(40)) { home in
            try await home.run([try home.device("band")]) {
                try await home.settled("band")
                let done = try await ask(home, "sync", of: "band", "{\"id\":\"a\"}")
                #expect(done.last == "done")
                let again = try await ask(home, "sync", of: "band", "{\"id\":\"a\"}")
                #expect(again == ["done"])
                let wrong = try await ask(home, "history", of: "band", "{\"metric\":\"noise\"}")
                #expect(wrong == ["rejected invalid"])
                let unknown = try await ask(home, "dance", of: "band", "{}")
                #expect(unknown == ["rejected unknown_command"])
                let slashed = try await ask(home, "a/b", of: nil, "{}")
                #expect(slashed == ["rejected unknown_command"])
                let other = try await ask(home, "sync", of: "nobody", "{}")
                #expect(other == ["rejected unknown_device"])
                let config = try await ask(home, "config", of: "band", "{\"if_version\":99}")
                #expect(config.last != "done")
                try await home.sleep(for: .seconds(5))
                let answers = home.observation.messages.filter { $0.message.topic.hasSuffix("/response") }
                #expect(answers.isEmpty)
                #expect(home.observation.messages.contains { $0.message.topic.hasSuffix("/band/sync") })
            }
        }
    }
}
