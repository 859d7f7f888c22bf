import Foundation
import Testing
import Vitals

@testable import PhoneExports

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

    private func counts(_ app: String?, device: String? = nil) throws -> [Double?] {
        try phone.samples(.steps, app, device: device).map(\.value)
    }

    @Test func `two apps with the same steps are two devices and never a sum`() throws {
        #expect(try counts("com.example.watch") == [1000])
        #expect(try counts("com.example.fit") == [40])
        #expect(try counts("Fit") == [40])
    }

    @Test func `of several devices of an app that count the same hour, one counts, and never both`() throws {
        // The watch has its hour, too. The order of the rows does not matter.
        try phone.interval(Self.steps, 4, HealthPhone.ms(8), HealthPhone.ms(9), app: 2, device: 1, [("count", "1005")])
        #expect(try counts("com.example.fit") == [1005, 40])
        let export = try phone.open("com.example.fit")
        #expect(export.skippedRows[Self.steps] == [.otherDevice: 1])
        #expect(
            export.device.notes == [
                "Several devices recorded them: Example Watch 3, Example Phone 9.",
                "Only the steps of Example Watch 3 count, since Example Phone 9 may have counted the same ones. options.device "
                    + "chooses another one, with all of its records.",
            ])
        // Other records add up to nothing, and are taken from all.
        try phone.instant("weight_record_table", 5, at: HealthPhone.ms(7), app: 2, device: 2, [("weight", "71500")])
        #expect(try phone.samples(.weight, "com.example.fit").count == 1)
    }

    @Test func `the one that is worn most surely counts, of several the newest, and it stays the same`() throws {
        try phone.run(
            """
            DELETE FROM steps_record_table;
            INSERT INTO device_info_table VALUES (3, 'Example', 'Thing', 0), (4, 'Example', 'Band', 6), (5, 'Example', 'Watch 5', 1);
            """)
        // In the order in which they come: each is the best so far.
        for (row, device) in [2, 3, 4, 1, 5].enumerated() {
            let hour = Int64(row)
            try phone.interval(
                Self.steps, 10 + row, HealthPhone.ms(hour), HealthPhone.ms(hour + 1), app: 2, device: device,
                [("count", "\(device)")])
            #expect(try counts("com.example.fit") == [Double(device)])
            // However much another one counts, and however late.
            try phone.interval(
                Self.steps, 20 + row, HealthPhone.ms(20 + hour), HealthPhone.ms(21 + hour), app: 2, device: 2,
                [("count", "9000")])
            #expect(try counts("com.example.fit") == (device == 2 ? [2, 9000] : [Double(device)]))
        }
        #expect(try counts("com.example.fit", device: "Watch 3") == [1])
    }

    @Test func `steps that name no device do not come on top of those of one that has a name`() throws {
        try phone.run("UPDATE steps_record_table SET device_info_id = NULL WHERE row_id = 2")
        #expect(try counts("com.example.fit") == [40])
        #expect(
            try phone.open("com.example.fit").device.notes.last?.contains("since an unknown device may have") == true)
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
                "The export has records of several apps: com.example.fit, com.example.watch. Set options.app to one of them."
            )
        ) { _ = try phone.open() }
        #expect(
            throws: ExportError(
                .missing,
                "The export has no records of the app com.other. It has some of: com.example.fit, com.example.watch.")
        ) { _ = try phone.open("com.other") }
        #expect(
            throws: ExportError(
                .missing,
                "The app com.example.watch has no records of the device Ring. It has some of: Example Watch 3.")
        ) { _ = try phone.open("com.example.watch", device: "Ring") }
    }

    @Test func `an app needs no name where only one has records`() throws {
        try phone.run("DELETE FROM steps_record_table WHERE app_info_id = 2")
        #expect(try counts(nil) == [1000])
        try phone.run("DELETE FROM steps_record_table")
        #expect(throws: ExportError(.missing, "The export has no records yet.")) { _ = try phone.open() }
    }

    @Test func `a database of another app is none of Health Connect`() throws {
        try phone.run("DROP TABLE application_info_table")
        #expect(
            throws: ExportError(
                .foreign, "The file has no table application_info_table: it is no export of Health Connect.")
        ) { _ = try phone.open() }
    }
}
