import GatewayKit
import JSON
import TestSupport
import Testing
import Vitals

@testable import Link

/// Damaged input must neither trap nor yield an invalid sample.
@Suite struct LinkFuzzTests {
    private static let seeds: [UInt64] = Array(1...8)

    private let lines = [
        #"{"jsonrpc":"2.0","method":"sample","params":{"sample":{"metric":"heart_rate","start":1763683200000,"end":1763683200000,"value":60.5}}}"#,
        #"{"jsonrpc":"2.0","id":"a","method":"sample","params":{"sample":{"metric":"blood_pressure","start":1763683200000,"systolic":120,"diastolic":80,"pulse":null}}}"#,
        #"{"jsonrpc":"2.0","method":"sample","params":{"sample":{"metric":"sleep","start":1763683200000,"end":1763686800000,"stages":[{"stage":"deep","start":1763683200000,"end":1763686800000}]}}}"#,
        #"{"jsonrpc":"2.0","method":"sample","params":{"sample":{"metric":"steps","start":1763683200000,"end":1763686800000,"value":812,"distance_m":600,"energy_kcal":31.5}}}"#,
        #"{"jsonrpc":"2.0","method":"measurement/ended","params":{"measurement":"m","completed":false,"error":{"code":4,"message":"not worn"}}}"#,
        #"{"jsonrpc":"2.0","method":"battery","params":{"percent":81,"charging":false}}"#,
        #"{"jsonrpc":"2.0","method":"alert","params":{"rule":"heart_rate_resting_high","edge":"raised","value":121,"at":1763683200000}}"#,
        #"{"jsonrpc":"2.0","id":3,"result":{"samples":[],"next":null}}"#,
        #"{"jsonrpc":"2.0","id":4,"error":{"code":2,"message":"busy"}}"#,
        #"{"jsonrpc":"2.0","method":"log","params":{"level":"debug","message":"\u00e9"}}"#,
    ]

    private static let inputs = FuzzInputs()

    @Test func `finds the inputs`() { #expect(Self.inputs.names.count >= 5) }

    @Test(arguments: inputs.names) func `takes what fuzzing begins with, and what once failed`(name: String) throws {
        #expect(LinkInput.issues(in: try Self.inputs.bytes(name)) == [])
    }

    @Test(arguments: seeds)
    func `never traps on damaged lines`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var malformed = 0
        for _ in 0..<2_000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes += Array((lines.randomElement(using: &random) ?? "").utf8) + [UInt8(ascii: "\n")]
            }
            for _ in 0..<Int.random(in: 1...4, using: &random) { Damage.json(&bytes, &random) }
            var splitter = LineSplitter()
            var inbound = Inbound()
            splitter.append(bytes)
            while let line = try splitter.next() { inbound.receive(line, of: splitter.bytes) }
            inbound.flush()
            for event in inbound.events {
                switch event {
                case .samples(let samples, let receipts):
                    #expect(samples.allSatisfy { $0.isValid == $0.violations.isEmpty })
                    #expect(receipts.isEmpty || receipts.count == samples.count)
                case .malformed, .unreadable: malformed += 1
                case .battery(let percent, _): #expect((0...100).contains(percent))
                default: break
                }
            }
            for reply in inbound.replies.bytes.split(separator: UInt8(ascii: "\n")) {
                #expect(throws: Never.self) { try JSONValue(parsing: Array(reply)) }
            }
        }
        #expect(malformed > 500)
    }

    @Test(arguments: seeds)
    func `never traps on damaged answers`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let answers = [
            #"{"protocol":1,"device":{"model":"x"},"capabilities":{"heart_rate":{"history":true},"max_history_days":7},"clock":{"now":1,"utc_offset_min":60}}"#,
            #"{"samples":[{"metric":"stress","start":1763683200000,"value":5},{"metric":"stress","start":1763683300000,"value":6}],"next":"b"}"#,
            #"{"schedule":{"enabled":true,"start":480,"end":1440,"interval_min":10},"resting_alert":{"enabled":true,"lower":40,"upper":100}}"#,
            #"{"days":[{"date":"2025-11-21","count":3,"manual_count":1,"average":7,"maximum":{"start":"2025-11-21T10:00:00Z","value":9}}]}"#,
        ]
        for _ in 0..<3_000 {
            var bytes = Array((answers.randomElement(using: &random) ?? "").utf8)
            for _ in 0..<Int.random(in: 0...3, using: &random) { Damage.json(&bytes, &random) }
            var reader = JSONReader(bytes)
            if let page = try? HistoryPage(link: &reader, of: .stress) {
                #expect(page.samples.allSatisfy { $0.metric == .stress })
            }
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            _ = try? DeviceDescription(link: value)
            for metric in Metric.allCases {
                _ = MonitorConfiguration(link: value, of: metric)
                guard let device = DeviceID("a") else { continue }
                _ = SummaryDecoder(device: device, metric: metric, receivedAt: Timestamp(seconds: 0)).summaries(
                    in: value)
            }
        }
    }
}
