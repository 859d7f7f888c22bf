import Foundation
import Testing

@testable import vitals2mqtt_bench

@Suite struct GatewayConfigurationTests {
    @Test(arguments: 0..<24) func `simulated people are up at whatever hour it runs`(hour: Int) throws {
        let date = Date(timeIntervalSince1970: 1_795_000_000 - 1_795_000_000.truncatingRemainder(dividingBy: 86_400))
            .addingTimeInterval(Double(hour) * 3600 + 1800)
        let zone = try #require(TimeZone(identifier: GatewayConfiguration.afternoon(at: date)))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        #expect(calendar.component(.hour, from: date) == 14)
    }
}
