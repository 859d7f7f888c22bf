/// How long the gateway waits for a device's answer before it closes the session and opens it again.
public enum DeviceTimeouts {
    /// Any operation that is not named below.
    public static let call: Duration = .seconds(30)
    /// A page of history: slow devices collect it first.
    public static let history: Duration = .seconds(60)
    /// The start of a measurement: the device may have to wake its sensor.
    public static let measurementStart: Duration = .seconds(60)
    /// Nothing received for so long is idle: the device is asked whether it is there.
    public static let idle: Duration = .seconds(30)
    /// The answer to that question.
    public static let ping: Duration = .seconds(10)
    /// A goodbye.
    public static let shutdown: Duration = .seconds(2)
}
