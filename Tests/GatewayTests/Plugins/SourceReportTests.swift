import Gateway
import GatewayKit
import Testing
import Vitals

/// What `vitals2mqtt sources` prints of a report.
@Suite struct SourceReportTests {
    /// An hour after the records.
    private static let now = Timestamp(seconds: 1_767_618_060)

    private static func report(
        _ name: String, family: String? = nil, omissions: [SourceReport.Omission] = [], notes: [String] = [],
        options: [SourceReport.Option], remark: String? = nil
    ) -> SourceReport {
        let records = SourceReport.Records(
            .steps, count: 2, first: Timestamp(seconds: 1_767_614_400), last: Timestamp(seconds: 1_767_614_460),
            places: ["A_SAMPLE"])
        return SourceReport(
            file: "/tmp/a.db", kind: "an export of Toys",
            devices: [
                .init(
                    name: name, family: family, records: [records], omissions: omissions, notes: notes, driver: "toy",
                    options: [.init("path", "/tmp/a.db")] + options, remark: remark)
            ])
    }

    @Test func `an entry has no empty keys, and says what to mind of it`() {
        let report = Self.report("", options: [.init("device", "")], remark: "It is nameless.")
        #expect(
            report.text(at: Self.now) == """
                /tmp/a.db is an export of Toys.

                (without a name)
                  steps  2  2026-01-05 12:00Z to 2026-01-05 12:01Z  A_SAMPLE

                To copy into the configuration, each with an id of your own:

                devices:
                  # It is nameless.
                  - id: device
                    driver: toy
                    options:
                      path: "/tmp/a.db"

                """)
    }

    @Test func `nothing of a file moves the cursor, and a name is one line of the length that is allowed`() {
        let report = Self.report(
            "Band\n2\u{1B}[2J", family: "A\rB", omissions: [.init("B\u{7}_SAMPLE", reason: "no rule knows this table")],
            notes: ["Two:\nlines."], options: [.init("device", "Band\n2")], remark: "Mind\nit.")
        #expect(
            report.text(at: Self.now) == """
                /tmp/a.db is an export of Toys.

                Band\u{FFFD}2\u{FFFD}[2J
                  family: A\u{FFFD}B
                  steps  2  2026-01-05 12:00Z to 2026-01-05 12:01Z  A_SAMPLE
                  skipped: B\u{FFFD}_SAMPLE: no rule knows this table
                  Two:\u{FFFD}lines.

                To copy into the configuration, each with an id of your own:

                devices:
                  # Mind\u{FFFD}it.
                  - id: band-2-2j
                    name: "Band\u{FFFD}2\u{FFFD}[2J"
                    driver: toy
                    options:
                      path: "/tmp/a.db"
                      device: "Band\\n2"

                """)
        let long = Self.report(String(repeating: "a", count: 1000), options: [])
        let line = String(repeating: "a", count: ConfigurationLimits.nameLength)
        #expect(long.entries(at: Self.now).contains("    name: \"\(line)\"\n"))
    }

    @Test func `an entry whose records a first synchronisation would not reach says that all are read`() {
        let report = Self.report("Band", options: [])
        let last = Timestamp(seconds: 1_767_614_460)
        let line = "    driver: toy\n    sync: {first: all}  # all records are older than 30 days\n    options:\n"
        #expect(report.entries(at: last + .days(30) + .seconds(1)).contains(line))
        #expect(!report.entries(at: last + .days(30)).contains("sync"))
    }
}
