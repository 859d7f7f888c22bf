import Foundation

/// The gateway's configuration file, as a user would write it: everything that is not named has its default.
enum GatewayConfiguration {
    /// The devices of the file.
    enum Devices {
        /// Devices of the feeder, one at each port.
        case link(ports: [UInt16])
        /// Simulated wearables that send a value a second and have no history.
        case simulated(count: Int)
    }

    static func write(to folder: URL, store: URL, broker: UInt16, devices: Devices) throws {
        var text = """
            gateway:
              id: home
              timezone: UTC
            mqtt:
              url: mqtt://127.0.0.1:\(broker)
            store:
              path: \(store.path)
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
        }
        try text.write(to: folder.appending(path: "gateway.yaml"), atomically: true, encoding: .utf8)
    }
}
