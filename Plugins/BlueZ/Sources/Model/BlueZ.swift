/// The names of BlueZ on the bus (BlueZ's manual pages org.bluez.*).
enum BlueZ {
    static let service = "org.bluez"
    static let adapter = "org.bluez.Adapter1"
    static let agentManager = "org.bluez.AgentManager1"
    static let agent = "org.bluez.Agent1"
    static let battery = "org.bluez.Battery1"
    static let characteristic = "org.bluez.GattCharacteristic1"
    static let device = "org.bluez.Device1"
    static let gattManager = "org.bluez.GattManager1"
    static let gattService = "org.bluez.GattService1"
    /// The object of the agent manager.
    static let root = "/org/bluez"
}

/// The names of D-Bus itself (D-Bus Specification, "Standard Interfaces").
enum DBus {
    static let service = "org.freedesktop.DBus"
    static let path = "/org/freedesktop/DBus"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"
    static let properties = "org.freedesktop.DBus.Properties"
}
