import Gateway
import GatewayKit
import GatewayTesting
import JSON
import TestSupport
import Testing
import Vitals

/// What the devices of a plugin share, in many orders of events.
@Suite struct PluginServiceTests {
    private func everyOrder(_ body: @escaping @Sendable (Scenario, SharedRadio) async throws -> Void) throws {
        try Scenario.everyOrder(0..<10) { home in try await body(home, SharedRadio()) }
    }

    @Test func `it is opened before its devices and closed after them`() throws {
        try everyOrder { home, radio in
            let setup = radio.setup()
            try await home.run([
                try home.device("band", sharing: setup), try home.device("ring", sharing: setup),
                try home.device("cuff"),
            ]) {
                for name in ["band", "ring", "cuff"] { try await home.settled(name) }
            }
            let notes = radio.notes
            #expect(notes.first == "open")
            #expect(notes.last == "closed")
            #expect(Set(notes.dropFirst().prefix(2)) == ["band in", "ring in"])
            #expect(Set(notes.dropLast().suffix(2)) == ["band out", "ring out"])
            #expect(notes.count == 6)
        }
    }

    @Test func `what no device uses is not opened`() throws {
        try everyOrder { home, radio in
            try await home.run([try home.device("band")]) { try await home.settled("band") }
            #expect(radio.notes.isEmpty)
        }
    }

    @Test func `its failure is reported by the links of its devices only, and they are back as soon as it is`() throws {
        try everyOrder { home, radio in
            try await home.run([try home.device("band", sharing: radio.setup()), try home.device("cuff")]) {
                try await home.settled("band")
                try await home.settled("cuff")
                var start = home.position
                radio.fail(untilRepaired: true)
                try await home.message("band/link", from: start) {
                    $0["state"]?.asString == "waiting"
                        && $0["last_error"]?.asString == "radio: The stick was pulled out."
                }
                // A device that was offline for long waits for minutes, but not for a service that is back.
                try await home.message("band/link", from: start) {
                    ($0["attempts"]?.asInt ?? 0) >= 6
                        && $0["last_error"]?.asString == "radio: The stick is not plugged in."
                }
                start = home.position
                radio.repair()
                let repaired = home.simulation.date
                try await home.message("band/link", from: start) { $0["state"]?.asString == "connected" }
                #expect(home.simulation.date - repaired < .seconds(61))
                #expect(home.connections(of: "cuff") == 1)
            }
        }
    }

    @Test func `a gateway begins without it, says why, and connects its devices when it is there`() throws {
        try everyOrder { home, radio in
            radio.fail(untilRepaired: true)
            try await home.run([try home.device("band", sharing: radio.setup()), try home.device("cuff")]) {
                try await home.settled("cuff")
                try await home.message("band/link") {
                    $0["last_error"]?.asString == "radio: The stick is not plugged in."
                }
                #expect(
                    home.log.entries.contains {
                        $0.message == "The plugin radio cannot open what its devices share; trying again."
                    })
                radio.repair()
                try await home.settled("band")
            }
        }
    }

    @Test func `a service that hangs while it opens does not hold up the start`() throws {
        try everyOrder { home, radio in
            let hanging = ServiceSetup(name: "radio", service: radio, fingerprint: 1) { _ in
                try await home.sleep(for: .hours(1))
            }
            let began = home.simulation.date
            try await home.run([try home.device("band", sharing: hanging), try home.device("cuff")]) {
                try await home.settled("cuff")
                #expect(home.simulation.date - began < .seconds(20))
                try await home.message("band/link") {
                    $0["last_error"]?.asString == "radio: what its devices share is not open yet."
                }
            }
        }
    }

    @Test func `a reload with another configuration begins it and its devices again, and no others`() throws {
        try everyOrder { home, radio in
            let cuff = try home.device("cuff")
            try await home.run([try home.device("band", sharing: radio.setup(1)), cuff]) {
                try await home.settled("band")
                try await home.settled("cuff")
                let start = home.position
                home.write(.success([try home.device("band", sharing: radio.setup(2)), cuff]))
                let answer = try await home.ask("gateway/command/reload")
                #expect(answer["data"]?["changed"] == ["band"])
                try await home.message("band/link", from: start) { $0["state"]?.asString == "connected" }
                #expect(radio.notes == ["open", "band in", "band out", "closed", "open", "band in"])
                #expect(home.connections(of: "cuff") == 1)
            }
        }
    }

    @Test func `a reload keeps it open for a device that is added, and closes it after the last one`() throws {
        try everyOrder { home, radio in
            let cuff = try home.device("cuff")
            let band = try home.device("band", sharing: radio.setup())
            try await home.run([band, cuff]) {
                try await home.settled("band")
                // The changed configuration has its own service object, which is never opened.
                let unused = SharedRadio()
                home.write(.success([band, try home.device("ring", sharing: unused.setup()), cuff]))
                _ = try await home.ask("gateway/command/reload")
                try await home.settled("ring")
                #expect(unused.notes.isEmpty)
                #expect(radio.notes == ["open", "band in", "ring in"])
                home.write(.success([cuff]))
                _ = try await home.ask("gateway/command/reload")
                #expect(radio.notes.suffix(1) == ["closed"])
                #expect(home.connections(of: "band") == 1)
            }
        }
    }
}
