import GatewayKit
import JSON
import Vitals

extension JSONWriter {
    /// Writes the members of the answer to `initialize`.
    mutating func linkGreeting(_ description: DeviceDescription, version: Int) {
        let identity = description.identity
        let capabilities = description.capabilities
        member("protocol", version)
        member("device") { device in
            device.member("manufacturer", identity.manufacturer)
            device.member("model", identity.model)
            device.member("serial", identity.serial)
            device.member("firmware", identity.firmware)
            device.member("hardware", identity.hardware)
        }
        member("capabilities") { writer in
            for metric in Metric.allCases {
                guard let abilities = capabilities.metrics[metric] else { continue }
                writer.key(escaping: metric.rawValue)
                writer.beginObject()
                for (name, ability) in Abilities.named where abilities.contains(ability) {
                    writer.key(escaping: name)
                    writer.bool(true)
                }
                writer.endObject()
            }
            if let days = capabilities.maximumHistoryDays { writer.member("max_history_days", days) }
        }
        guard let clock = description.clock else { return }
        member("clock") { writer in
            writer.member("now", clock.now.milliseconds)
            writer.member("utc_offset_min", clock.utcOffset)
        }
    }
}
