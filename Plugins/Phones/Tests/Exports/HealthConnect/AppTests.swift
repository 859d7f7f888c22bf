import Foundation
import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Phones

/// Whose records count: the app, and one of its devices.
@Suite struct AppTests {
    private let phone: HealthPhone
    private static let steps = "steps_record_table"

    /// The same walk, by two apps.
    init() throws {
        phone = try HealthPhone()
        try phone.run(
            "INSERT INTO application_info_table VALUES (2, 'com.example.fit', 'Fit', NULL, NULL), (3, 'com.idle', 'Idle', NULL, NULL)"
        )
        try phone.interval(Self.steps, 1, HealthPhone.ms(8), HealthPhone.ms(9), app: 1, [("count", "1000")])
        try phone.interval(Self.steps, 2, HealthPhone.ms(8), HealthPhone.ms(9), app: 2, device: 2, [("count", "990")])
        try phone.interval(Self.steps, 3, HealthPhone.ms(10), HealthPhone.ms(11), app: 2, device: 1, [("count", "40")])
    }

    /// The steps that count by the rule of the contract, in order of time.
    private func counts(_ app: String?, device: String? = nil) throws -> [Double?] {
        try phone.samples(.steps, app, device: device).countedOnce.map(\.value)
    }

    @Test func `two apps with the same steps are two devices and never a sum`() throws {
        #expect(try counts("com.example.watch") == [1000])
        #expect(try counts("com.example.fit") == [990, 40])
        #expect(try counts("Fit") == [990, 40])
    }

    @Test func `of several devices of an app that count the same hour, one counts, and never both`() throws {
        // The watch has its hour, too. The order of the rows does not matter.
        try phone.interval(Self.steps, 4, HealthPhone.ms(8), HealthPhone.ms(9), app: 2, device: 1, [("count", "1005")])
        #expect(try counts("com.example.fit") == [1005, 40])
        let export = try phone.open("com.example.fit")
        #expect(export.skippedRows[Self.steps] == nil)
        #expect(
            export.device.notes == [
                "Several devices recorded them: Example Watch 3, Example Phone 9.",
                "Of what several count in the same time, the first of these counts: Example Watch 3, Example Phone 9. options.sources gives "
                    + "another order; options.device chooses one of them, with all of its records.",
            ])
        // Other records add up to nothing, and are taken from all.
        try phone.instant("weight_record_table", 5, at: HealthPhone.ms(7), app: 2, device: 2, [("weight", "71500")])
        #expect(try phone.samples(.weight, "com.example.fit").count == 1)
    }

    @Test func `a watch counts before a band, a phone and others, and the options may order them`() throws {
        try phone.run(
            """
            DELETE FROM steps_record_table;
            INSERT INTO device_info_table VALUES (3, 'Example', 'Thing', 0), (4, 'Example', 'Band', 6), (5, 'Example', 'Watch 5', 1);
            """)
        // In the order in which they come: each is the best so far, however many the others have counted.
        for (row, device) in [3, 2, 4, 5, 1].enumerated() {
            try phone.interval(
                Self.steps, 10 + row, HealthPhone.ms(8), HealthPhone.ms(9), app: 2, device: device,
                [("count", "\(device * 1000 - row)")])
            #expect(try counts("com.example.fit") == [Double(device * 1000 - row)])
        }
        // What only the thing has counted is added.
        try phone.interval(
            Self.steps, 20, HealthPhone.ms(9), HealthPhone.ms(10), app: 2, device: 3, [("count", "7")])
        #expect(try counts("com.example.fit") == [996, 7])
        #expect(try counts("com.example.fit", device: "Watch 5") == [4997])
        var options = HealthConnectExportOptions(path: phone.file.path, app: "com.example.fit")
        options.order = SourceOrder(["Example Thing", "Band"])
        let context = try HealthPhone.context()
        let export = try OpenExport(try #require(FileStamp(of: phone.file.path)), options, context)
        #expect(try export.samples(.steps, zone: "UTC", limit: 2).countedOnce.map(\.value) == [3000, 7])
    }

    @Test func `values of two devices at one moment are both kept`() throws {
        for device in 1...2 {
            try phone.interval(
                "heart_rate_record_table", device, HealthPhone.ms(8), HealthPhone.ms(9), app: 2, device: device)
            try phone.run(
                "INSERT INTO heart_rate_record_series_table VALUES (\(device), \(60 + device), \(HealthPhone.ms(8, 30)))"
            )
        }
        let rates = try phone.samples(.heartRate, "com.example.fit", limit: 1)
        #expect(rates.map(\.value) == [61, 62])
        #expect(rates.map(\.origin?.name) == ["Example Watch 3", "Example Phone 9"])
    }

    @Test func `steps that name no device do not come on top of those of one that has a name`() throws {
        try phone.run("UPDATE steps_record_table SET device_info_id = NULL WHERE row_id = 2")
        // At eight nobody else has counted.
        #expect(try counts("com.example.fit") == [990, 40])
        try phone.interval(Self.steps, 4, HealthPhone.ms(8), HealthPhone.ms(9), app: 2, device: 1, [("count", "1005")])
        #expect(try counts("com.example.fit") == [1005, 40])
        #expect(try phone.open("com.example.fit").device.notes.last?.contains("Watch 3, an unknown device.") == true)
        try phone.run("DELETE FROM steps_record_table WHERE row_id = 4")
        // Without any name they are one source.
        try phone.run("UPDATE steps_record_table SET device_info_id = NULL WHERE app_info_id = 2")
        #expect(try counts("com.example.fit") == [990, 40])
    }

    @Test func `the devices of an app can be distinguished`() throws {
        #expect(try counts("com.example.fit", device: "Phone 9") == [990])
        #expect(try counts("com.example.fit", device: "Example Watch 3") == [40])
        let watch = try phone.open("com.example.fit", device: "Watch 3").identity
        #expect(watch.manufacturer == "Example" && watch.model == "Watch 3")
        let both = try phone.open("com.example.fit")
        #expect(both.identity.manufacturer == nil && both.identity.model == "Fit")
        #expect(both.device.notes.count == 2)
    }

    @Test func `says which there are where none or several fit`() throws {
        #expect(
            throws: ExportError(
                .missing,
                "\(phone.file.path): The export has records of several apps: com.example.fit, com.example.watch. Set options.app to one of them."
            )
        ) { _ = try phone.open() }
        #expect(
            throws: ExportError(
                .missing,
                "\(phone.file.path): The export has no records of the app com.other. It has some of: com.example.fit, com.example.watch."
            )
        ) { _ = try phone.open("com.other") }
        #expect(
            throws: ExportError(
                .missing,
                "\(phone.file.path): The app com.example.watch has no records of the device Ring. It has some of: Example Watch 3."
            )
        ) { _ = try phone.open("com.example.watch", device: "Ring") }
    }

    @Test func `an app needs no name where only one has records`() throws {
        try phone.run("DELETE FROM steps_record_table WHERE app_info_id = 2")
        #expect(try counts(nil) == [1000])
        try phone.run("DELETE FROM steps_record_table")
        #expect(throws: ExportError(.missing, "\(phone.file.path): The export has no records yet.")) {
            _ = try phone.open()
        }
    }

    @Test func `a database of another app is none of Health Connect`() throws {
        try phone.run("DROP TABLE application_info_table")
        #expect(
            throws: ExportError(
                .foreign,
                "\(phone.file.path): The file has no table application_info_table: it is no export of Health Connect.")
        ) { _ = try phone.open() }
    }
}
