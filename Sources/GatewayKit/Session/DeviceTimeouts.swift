/// How long the gateway waits for a device's answer before it closes the session and reopens it.
public enum DeviceTimeouts {
    /// The limit of any operation not named below.
    public static let call: Duration = .seconds(30)
    /// The limit of a page of history: slow devices have to collect it first.
    public static let history: Duration = .seconds(60)
    /// The limit of starting a measurement: the device may have to wake its sensor.
    public static let measurementStart: Duration = .seconds(60)
    /// The time without input after which the gateway pings the device.
    public static let idle: Duration = .seconds(30)
    /// The limit of a ping.
    public static let ping: Duration = .seconds(10)
    /// The limit of a graceful disconnect.
    public static let shutdown: Duration = .seconds(2)
}
