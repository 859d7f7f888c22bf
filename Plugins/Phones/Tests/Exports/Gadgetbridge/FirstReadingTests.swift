import Foundation
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Phones

/// The order of a session's beginning: first the history that the gateway reads, then what came late.
@Suite struct FirstReadingTests {
    @Test(arguments: [true, false])
    func `nothing late is reported before the history is durable, or nothing is asked for a minute`(
        isAcknowledged: Bool
    ) throws {
        let phone = try GadgetbridgePhone()
        try phone.table(
            "PINE_TIME_ACTIVITY_SAMPLE", "RAW_KIND I!, STEPS I!, HEART_RATE I!",
            (0..<40).map { [GadgetbridgePhone.midnight + $0 * 60, 1, 7, 60] })
        try Simulation.run(seed: 1, start: Scenario.start, deadline: .days(1)) { simulation in
            let clock = simulation.gatewayClock
            let driver = GadgetbridgeDriver(GadgetbridgeOptions(path: phone.file.path), in: simulation)
            let reported = KeptSamples()
            try await driver.withSession(over: .none, context: try GadgetbridgePhone.context(clock: clock)) { session in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        while let events = try await session.nextEvents() {
                            for case .samples(let samples, let receipts) in events {
                                reported.store(samples)
                                try await session.settle(receipts.map { SettledReceipt($0, .new) })
                            }
                        }
                    }
                    for metric in [Metric.steps, .sleep, .heartRate] {
                        var request = HistoryRequest(
                            metric: metric, from: Timestamp(seconds: 946_684_800), to: clock.now, limit: 30)
                        repeat {
                            // A gateway may take long for a page, but less than a minute.
                            try await clock.sleep(for: .seconds(55))
                            request.page = try await session.history(request).next
                            #expect(reported.count == 0)
                        } while request.page != nil
                    }
                    try await clock.sleep(for: .seconds(59))
                    #expect(reported.count == 0)
                    if isAcknowledged {
                        try await session.acknowledgeHistory(of: .heartRate, through: clock.now)
                        try await clock.sleep(for: .milliseconds(500))
                    } else {
                        try await clock.sleep(for: .seconds(2))
                    }
                    #expect(reported.count == 80)
                    group.cancelAll()
                }
            }
        }
    }
}
