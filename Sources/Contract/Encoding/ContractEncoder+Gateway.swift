import JSON
package import MQTT
package import Vitals

extension ContractEncoder {
    /// Whether the gateway is online. The message with `false` is the connection's will.
    package func gatewayStatus(isOnline: Bool) -> OutgoingMessage { plain(.gatewayStatus, isOnline: isOnline) }

    /// Whether a device is online.
    package func availability(_ isOnline: Bool, of device: DeviceID) -> OutgoingMessage {
        plain(.availability(device), isOnline: isOnline)
    }

    private func plain(_ topic: Topic, isOnline: Bool) -> OutgoingMessage {
        OutgoingMessage(
            topic: topics.topic(topic), payload: Array((isOnline ? Self.online : Self.offline).utf8),
            isRetained: topic.isRetained, isUTF8: true)
    }

    /// The identity of the gateway.
    package func gatewayInfo(_ info: GatewayInfo) -> OutgoingMessage {
        message(.gatewayInfo, .gatewayInfo) { writer in
            writer.member("version", info.version)
            writer.member("store", info.store)
            writer.member("started_at", info.startedAt)
            writer.member("plugins", texts: info.plugins)
            writer.member("devices", texts: info.devices.map(\.text))
        }
    }

    /// The condition of the gateway.
    package func gatewayState(_ state: GatewayState) -> OutgoingMessage {
        message(.gatewayState, .gatewayState) { writer in
            writer.member("broker", state.broker)
            writer.member("protocol", state.protocolVersion)
            writer.member("outbox") { writer in
                for lane in Lane.allCases {
                    writer.key(escaping: lane.name)
                    writer.int(state.outbox[lane] ?? 0)
                }
            }
            writer.member("oldest_unsent_at", state.oldestUnsentAt)
            writer.member("dropped") { writer in
                for (name, count) in state.dropped.sorted(by: { $0.key < $1.key }) {
                    writer.key(escaping: name)
                    writer.int(count)
                }
            }
            writer.member("quarantined", state.quarantined)
            writer.member("store_bytes", state.storeBytes)
            writer.member("last_error", state.lastError)
            writer.member("late", texts: state.late.map(\.name))
            writer.member("statistics", state.statistics) { writer, statistics in
                writer.beginObject()
                writer.member("activity", statistics.activity.rawValue)
                writer.member("due", statistics.due)
                writer.member("imported_at", statistics.importedAt)
                writer.member("problem", statistics.problem)
                writer.endObject()
            }
            writer.member("at", state.at)
        }
    }
}
