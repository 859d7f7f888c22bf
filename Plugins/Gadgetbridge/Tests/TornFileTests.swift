import ExportDrivers
import Exports
import Foundation
import GatewayTesting
import Testing
import Vitals

@testable import Gadgetbridge

/// A phone writes its export in place, slowly, and a network may cut it anywhere.
@Suite struct TornFileTests {
    private static let rows: Int64 = 3000
    private let phone: Phone

    init() throws {
        phone = try Phone()
        try phone.table("GENERIC_HEART_RATE_SAMPLE", "HEART_RATE I!")
        try Self.fill(phone, 0..<Self.rows)
    }

    private static func fill(_ phone: Phone, _ minutes: Range<Int64>) throws {
        try phone.insert(
            "GENERIC_HEART_RATE_SAMPLE", minutes.map { [(Phone.midnight - $0 * 60) * 1000, 60 + $0 % 40] })
    }

    /// Every heart rate that the phone ever measured, by minutes before midnight.
    private static func isTrue(_ sample: Sample) -> Bool {
        let minute = (Phone.midnight - sample.start.milliseconds / 1000) / 60
        return sample.reading == .value(Double(60 + minute % 40))
    }

    @Test func `a file that is cut at any of two hundred points is not read`() throws {
        let whole = try Data(contentsOf: phone.file)
        var random = SplitMix64(seed: 17)
        for _ in 0..<200 {
            let length = Int.random(in: 0..<whole.count, using: &random)
            try whole.prefix(length).write(to: phone.file)
            let error = #expect(throws: ExportError.self) { _ = try phone.open() }
            #expect(error?.code == .torn, "\(length): \(error?.message ?? "")")
        }
        try whole.write(to: phone.file)
        #expect(try phone.samples(.heartRate, limit: 2000).count == Int(Self.rows))
    }

    @Test func `a file that is overwritten while it is looked at loses and invents nothing`() throws {
        let old = try Data(contentsOf: phone.file)
        try Self.fill(phone, Self.rows..<(2 * Self.rows))
        let new = try Data(contentsOf: phone.file)
        try old.write(to: phone.file)
        #expect(new.count > old.count)
        try Household.live(with: phone, deadline: .days(20)) { [phone] home in
            try await home.pass(.seconds(80))
            #expect(home.kept.samples(.heartRate).count == Int(Self.rows))
            var random = home.simulation.random()
            for round in 0..<6 {
                // Back and forth: each round leaves the file as the other export.
                let target = round % 2 == 0 ? new : old
                let file = try FileHandle(forUpdating: phone.file)
                var place = 0
                while place < target.count {
                    let length = min(Int.random(in: 1...60_000, using: &random), target.count - place)
                    try file.seek(toOffset: UInt64(place))
                    try file.write(contentsOf: target[place..<(place + length)])
                    place += length
                    // Often longer than a file must stand still, and than a look takes to come.
                    try await home.pass(.seconds(Int.random(in: 1...150, using: &random)))
                    #expect(home.kept.samples(.heartRate).allSatisfy(Self.isTrue))
                }
                try file.truncate(atOffset: UInt64(target.count))
                try file.close()
                try await home.pass(.seconds(80))
            }
            try new.write(to: phone.file)
            try await home.pass(.seconds(80))
            #expect(home.kept.samples(.heartRate).count == Int(2 * Self.rows))
            #expect(home.kept.corrected.isEmpty && home.endings.isEmpty)
        }
    }
}
