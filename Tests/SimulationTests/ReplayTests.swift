import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing
import Vitals

/// Replays requested several times at once.
@Suite struct ReplayTests {
    @Test func `replays that are asked for at once are all answered, each with all that it asked for`() throws {
        try Scenario.everyOrder(0..<10) { home in
            try await home.run([try home.device("band")]) {
                try await home.settled("band")
                try await home.message("band/measurement/heart_rate") { ($0["seq"]?.asInt ?? 0) >= 100 }
                // The window is full most of the time, and far more messages wait than fit.
                home.broker.setFaults(BrokerFaults(delay: .milliseconds(10) ... .milliseconds(300)))
                let ids = (0..<12).map { _ in home.send("gateway/command/replay", #""from_seq":1,"to_seq":100"#) }
                for id in ids {
                    let answer = try await home.answer(id)
                    #expect(answer["status"] == "done")
                    #expect(answer["data"]?["replayed"] == 100)
                }
            }
        }
    }
}
