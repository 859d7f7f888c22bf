import Foundation
import Testing
import Vitals

@testable import Phones

@Suite struct GadgetbridgeConformanceTests {
    @Test func `does what every driver must do`() throws {
        let phone = try GadgetbridgePhone()
        let midnight = GadgetbridgePhone.midnight
        try phone.table("PINE_TIME_ACTIVITY_SAMPLE", "RAW_KIND I!, STEPS I!, HEART_RATE I!")
        try phone.table("GENERIC_STRESS_SAMPLE", "STRESS I!")
        try phone.insert(
            "PINE_TIME_ACTIVITY_SAMPLE",
            (0..<2500).map { [midnight + $0 * 60, $0 % 700 < 90 ? 2 : 1, $0 % 7, 50 + $0 % 90] })
        try phone.insert("GENERIC_STRESS_SAMPLE", [[midnight * 1000, 20], [midnight * 1000 + 1, 21]])
        try ExportConformance.expect(
            of: GadgetbridgeOptions(path: phone.file.path), at: GadgetbridgePhone.at(60),
            with: [.heartRate, .steps, .stress, .sleep],
            read: { try phone.samples($0, zone: "Europe/Berlin", limit: 2000) },
            context: { try GadgetbridgePhone.context(clock: $0, zone: "Europe/Berlin") })
    }
}
