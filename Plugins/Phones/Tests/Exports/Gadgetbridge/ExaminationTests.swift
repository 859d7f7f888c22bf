import Foundation
import GatewayKit
import GatewayTesting
import Logging
import TestSupport
import Testing
import Vitals

@testable import Phones

/// What `doctor` and the log say of a device that gives nothing.
@Suite struct ExaminationTests {
    private let phone: GadgetbridgePhone
    init() throws { phone = try GadgetbridgePhone() }

    private func findings(from: Timestamp? = nil, path: String? = nil) throws -> [Finding] {
        let options = GadgetbridgeOptions(path: path ?? phone.file.path)
        return try Simulation.run(seed: 1, start: Scenario.start, deadline: .hours(1)) { simulation in
            let context = try GadgetbridgePhone.context(clock: simulation.gatewayClock)
            return await GadgetbridgeDriver(options, in: simulation).examine(from: from, context: context)
        }
    }

    @Test func `doctor names the wearables of an export where none was chosen`() throws {
        try phone.run(
            "INSERT INTO DEVICE VALUES (2, 'Ring', 'Colmi', 'C0:11:22:33:44:66', 0, 'R02', NULL, NULL, NULL)")
        try phone.table("GENERIC_HEART_RATE_SAMPLE", "HEART_RATE I!", [[GadgetbridgePhone.midnight * 1000, 66]])
        try phone.insert("GENERIC_HEART_RATE_SAMPLE", device: 2, [[GadgetbridgePhone.midnight * 1000, 67]])
        let several =
            "\(phone.file.path): The export has several wearables: Band 8, Ring. Set options.device to the address, alias or "
            + "name of one."
        #expect(try findings() == [Finding(.problem, "band", several)])
    }

    @Test func `doctor says that a first synchronisation does not reach the newest record of an export`() throws {
        try phone.table("GENERIC_HEART_RATE_SAMPLE", "HEART_RATE I!", [[GadgetbridgePhone.midnight * 1000, 66]])
        let file = phone.file.path
        let good = Finding(.fine, "band", "\(file) has 1 sample, the newest of \(GadgetbridgePhone.at(0)).")
        #expect(try findings() == [good])
        #expect(try findings(from: GadgetbridgePhone.at(0)) == [good])
        let old =
            "The newest record of \(file) is of \(GadgetbridgePhone.at(0)), and a first synchronisation reads those since "
            + "\(GadgetbridgePhone.at(1)). Set sync: {first: all} to read older ones, or let the phone export again."
        #expect(try findings(from: GadgetbridgePhone.at(1)) == [Finding(.warning, "band", old)])
    }

    @Test func `doctor says that an export has nothing of the device, or is not there`() throws {
        let empty = try findings()
        #expect(empty.map(\.severity) == [.warning])
        #expect(empty.first?.text.contains("vitals2mqtt sources \(phone.file.path)") == true)
        let missing = try findings(path: "/nowhere/Gadgetbridge.db")
        #expect(missing.map(\.severity) == [.problem])
        #expect(missing.first?.text.contains("whether the phone has exported yet") == true)
    }

    @Test func `each stored export has a line with what became of its records`() throws {
        let log = LogRecorder()
        try phone.table("GENERIC_STRESS_SAMPLE", "STRESS I!", [[GadgetbridgePhone.midnight * 1000, 30]])
        try Scenario.run(with: phone, log: log) { [phone] scenario in
            try await scenario.pass(.seconds(80))
            try phone.insert("GENERIC_STRESS_SAMPLE", [[(GadgetbridgePhone.midnight + 60) * 1000, 31]])
            try phone.run(
                "UPDATE GENERIC_STRESS_SAMPLE SET STRESS = 40 WHERE TIMESTAMP = \(GadgetbridgePhone.midnight * 1000)")
            try await scenario.pass(.seconds(80))
        }
        let lines = log.entries.filter { $0.message == "The export is stored." && $0.level == .info }
        #expect(lines.count == 2)
        let keys: Set = ["new", "corrected", "known", "superseded", "skipped", "refused"]
        #expect(lines.allSatisfy { Set($0.metadata.keys) == keys })
        // The whole day is sent again.
        #expect(lines.last?.metadata["new"] == "2")
    }
}
