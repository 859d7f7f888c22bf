import Contract
import JSON
import Vitals

/// The `device` of a discovery message. Home Assistant rejects the message if a key is unknown or a value is `null`.
struct DeviceBlock {
    /// The identifier, also used as the beginning of topics.
    var node: String
    var name: String
    var identity = DeviceIdentity()
    /// The identifier of the device that connects this one.
    var via: String?

    var json: JSONValue {
        // Home Assistant's default, stated for the reason that `Component` gives for its availability.
        var members = [JSONValue.Member("identifiers", [.string(node)]), JSONValue.Member("connections", [])]
        func add(_ key: String, _ value: String?) {
            if let value, !value.isEmpty { members.append(JSONValue.Member(key, .string(value))) }
        }
        add("name", name)
        add("manufacturer", identity.manufacturer)
        add("model", identity.model)
        add("serial_number", identity.serial)
        add("sw_version", identity.firmware)
        add("hw_version", identity.hardware)
        add("via_device", via)
        return .object(members)
    }
}

extension Discovery {
    var gatewayDevice: DeviceBlock {
        DeviceBlock(
            node: node(DeviceID.reserved), name: "\(DiscoveryOrigin.name) \(topics.gateway.text)",
            identity: DeviceIdentity(model: DiscoveryOrigin.name, firmware: origin.version))
    }

    func block(of device: DeviceInfo) -> DeviceBlock {
        DeviceBlock(
            node: node(device.id.text), name: device.name, identity: device.identity ?? DeviceIdentity(),
            via: node(DeviceID.reserved))
    }
}
