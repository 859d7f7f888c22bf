import Foundation

/// The gateway's configuration file, as a user would write it: everything not named has its default. The version of MQTT is named, so that
/// figures compare between machines with different libraries.
enum GatewayConfiguration {
    /// The devices of the file.
    enum Devices {
        /// Devices of the feeder, one at each port.
        case link(ports: [UInt16])
        /// Simulated wearables that send one value per second and have no history.
        case simulated(count: Int)
        /// One wearable by a phone's exports in this folder, of which everything is read and kept.
        case export(folder: String)
    }

    static func write(to folder: URL, store: URL, broker: UInt16, devices: Devices, batchWindow: String? = nil) throws {
        let zone = afternoon(at: Date())
        var text = """
            gateway:
              id: home
              timezone: \(zone)
            mqtt:
              url: mqtt://127.0.0.1:\(broker)
              protocol: 5
            store:
              path: \(store.path)\(batchWindow.map { "\n  batch_window: \($0)" } ?? "")\(retention(of: devices))
            home_assistant:
              discovery: "off"
            devices:

            """
        switch devices {
        case .link(let ports):
            for (index, port) in ports.enumerated() {
                text += """
                      - id: \(Topics.device(index))
                        name: Device \(index)
                        driver: link
                        transport: {type: tcp, host: 127.0.0.1, port: \(port)}

                    """
            }
        case .simulated(let count):
            for index in 0..<count {
                text += """
                      - id: \(Topics.device(index))
                        name: Device \(index)
                        driver: simulator
                        options: {model: band, live_interval: 1s, history_days: 0}

                    """
            }
        case .export(let folder):
            text += """
                  - id: \(Topics.device(0))
                    name: Device 0
                    driver: gadgetbridge
                    options: {path: \(folder)}
                sync: {first: all}

                """
        }
        try text.write(to: folder.appending(path: "gateway.yaml"), atomically: true, encoding: .utf8)
    }

    /// What years of an export need beyond the defaults.
    private static func retention(of devices: Devices) -> String {
        guard case .export = devices else { return "" }
        return "\n  retention: {samples: forever}"
    }

    /// A time zone in which it is between 14:00 and 15:00: simulated people are up, with their bands on. At night the
    /// same run would measure less. (The names of these zones have inverted signs.)
    static func afternoon(at date: Date) -> String {
        let hour = Int((date.timeIntervalSince1970 / 3600).rounded(.down)) % 24
        let offset = 14 - hour
        return offset == 0 ? "Etc/GMT" : offset > 0 ? "Etc/GMT-\(offset)" : "Etc/GMT+\(-offset)"
    }
}
