import Foundation
import Testing

@testable import Gateway

/// The unit for systemd fits the program: what it reports to systemd, when, and with which status it ends.
@Suite struct ServiceUnitTests {
    /// The values of the unit's keys; a key that is given twice has two.
    private let values: [String: [String]]

    init() throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let file = root.appending(path: "deploy/systemd/vitals2mqtt.service")
        var values: [String: [String]] = [:]
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[String(parts[0]), default: []].append(String(parts[1])) }
        }
        self.values = values
    }

    private func value(_ key: String) throws -> String { try #require(values[key]?.only, "\(key) is to be there once") }

    /// A time in seconds, such as `60s` or `5min`.
    private func time(_ key: String) throws -> Duration {
        let text = try value(key)
        let number = try #require(Int(text.prefix(while: \.isNumber)))
        switch text.drop(while: \.isNumber) {
        case "s": return .seconds(number)
        case "min": return .seconds(60 * number)
        default: throw UnknownUnit()
        }
    }

    private struct UnknownUnit: Error {}

    @Test func `systemd waits for the gateway's own word, and kills it when the signs of life end`() throws {
        #expect(try value("Type") == "notify")
        #expect(try value("NotifyAccess") == "main")
        #expect(try value("WatchdogSignal") == "SIGKILL")
        // Between two signs there is a check each second, and a quarter of the time may be lost.
        #expect(try time("WatchdogSec") >= Watchdog.tick * 8)
        // A unit that is killed comes back, without a limit of attempts.
        #expect(try value("Restart") == "on-failure")
        #expect(try value("StartLimitIntervalSec") == "0")
    }

    @Test func `a stop has the time that it needs before systemd kills`() throws {
        let longest = GatewayProcess.gracePeriod + GatewayProcess.cancellationPeriod
        #expect(try time("TimeoutStopSec") > longest)
        // The signs of life end when a stop begins.
        #expect(try time("WatchdogSec") > longest)
    }

    @Test func `only statuses that a restart cannot help end the service`() throws {
        let ends = Set(try value("RestartPreventExitStatus").split(separator: " ").compactMap { Int32($0) })
        #expect(ends == [ExitStatus.usage.rawValue, ExitStatus.configuration.rawValue])
    }
}

extension [String] {
    fileprivate var only: String? { count == 1 ? first : nil }
}
