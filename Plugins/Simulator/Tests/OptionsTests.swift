import GatewayKit
import Testing
import Vitals

@testable import Simulator

@Suite struct OptionsTests {
    @Test func `every option may be left out`() {
        let (options, issues) = read([])
        #expect(issues.isEmpty)
        #expect(options == SimulatorOptions())
    }

    @Test func `takes every option`() {
        let (options, issues) = read([
            ("model", .text("ring")), ("seed", .text("42")), ("history_days", .text("400")),
            ("live_interval", .text("250ms")), ("clock_skew", .text("-90s")), ("sleep", .text("in_bed")),
            (
                "faults",
                .map([
                    ("disconnect_every", .text("10m")), ("hang", .text("0.25")), ("refuse_write", .text("1")),
                    ("duplicate_page", .text("0.5")), ("future_records", .text("0.1")),
                    ("corrupt_records", .text("0.01")), ("low_battery", .text("true")), ("not_worn", .text("yes")),
                ])
            ),
        ])
        #expect(issues.isEmpty)
        let faults = Faults(
            disconnectEvery: .seconds(600), hang: 0.25, refuseWrite: 1, duplicatePage: 0.5, futureRecords: 0.1,
            corruptRecords: 0.01, lowBattery: true, notWorn: true)
        #expect(
            options
                == SimulatorOptions(
                    model: .ring, seed: 42, historyDays: 400, liveInterval: .milliseconds(250),
                    clockSkew: .seconds(-90), sleep: .inBed, faults: faults))
    }

    @Test(arguments: ["off", "false", "0", "0s", "0ms"])
    func `switches streaming off`(text: String) {
        let (options, issues) = read([("live_interval", .text(text))])
        #expect(issues.isEmpty)
        #expect(options.liveInterval == nil)
    }

    @Test(arguments: [
        ("model", "watch"), ("seed", "-1"), ("seed", "anna"), ("history_days", "401"), ("history_days", "-1"),
        ("live_interval", "9ms"), ("live_interval", "2h"), ("live_interval", "often"), ("clock_skew", "90"),
        ("clock_skew", "20001d"), ("clock_skew", "--1s"), ("speed", "2"), ("sleep", "deep"),
    ])
    func `says what is wrong with an option`(key: String, text: String) {
        let (_, issues) = read([(key, .text(text))])
        #expect(issues.map(\.path) == ["options.\(key)"])
    }

    @Test(arguments: [
        ("hang", "1.1"), ("refuse_write", "-0.1"), ("duplicate_page", "often"), ("disconnect_every", "500ms"),
        ("low_battery", "4"), ("hangs", "1"),
    ])
    func `says what is wrong with a fault`(key: String, text: String) {
        let (_, issues) = read([("faults", .map([(key, .text(text))]))])
        #expect(issues.map(\.path) == ["options.faults.\(key)"])
    }

    @Test func `without a seed the identifier decides who it is`() {
        // FNV-1a of the empty text and of "a", as published by its authors.
        #expect(Noise.seed(of: "") == 0xcbf2_9ce4_8422_2325)
        #expect(Noise.seed(of: "a") == 0xaf63_dc4c_8601_ec8c)
        #expect(Noise.seed(of: "band-1") != Noise.seed(of: "band-2"))
    }

    @Test func `the sample has every option`() {
        for key in ["model", "seed", "history_days", "live_interval", "clock_skew", "disconnect_every", "not_worn"] {
            #expect(SimulatorPlugin.sample.contains("\(key):"))
        }
    }

    @Test func `the plugin brings one driver, which needs no link`() {
        #expect(SimulatorPlugin.drivers.map { $0.name } == ["simulator"])
        #expect(SimulatorPlugin.drivers.map { $0.link } == [.none])
        #expect(SimulatorPlugin.transports.isEmpty)
    }

    private func read(
        _ members: [(String, ConfigurationValue)]
    ) -> (options: SimulatorOptions, issues: [ConfigurationIssue]) {
        var reader = ConfigurationReader(.map(members), path: "options")
        let options = SimulatorOptions(&reader)
        return (options, reader.finish())
    }
}

extension ConfigurationValue {
    static func text(_ text: String) -> ConfigurationValue { ConfigurationValue(.scalar(text, isQuoted: false)) }
    static func map(_ members: [(String, ConfigurationValue)]) -> ConfigurationValue {
        ConfigurationValue(.map(members.map { (ConfigurationKey($0.0), $0.1) }))
    }
}
