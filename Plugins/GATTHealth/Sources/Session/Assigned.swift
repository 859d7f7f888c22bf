import GatewayKit

/// Numbers that the Bluetooth SIG has assigned to services and characteristics (Assigned Numbers, 3.4 and 3.8).
enum Assigned {
    static let currentTimeService = BluetoothUUID(0x1805)
    static let glucoseService = BluetoothUUID(0x1808)
    static let thermometerService = BluetoothUUID(0x1809)
    static let heartRateService = BluetoothUUID(0x180d)
    static let batteryService = BluetoothUUID(0x180f)
    static let bloodPressureService = BluetoothUUID(0x1810)
    static let compositionService = BluetoothUUID(0x181b)
    static let weightService = BluetoothUUID(0x181d)
    static let oximeterService = BluetoothUUID(0x1822)

    static let dateTime = BluetoothUUID(0x2a08)
    static let localTime = BluetoothUUID(0x2a0f)
    static let glucose = BluetoothUUID(0x2a18)
    static let batteryLevel = BluetoothUUID(0x2a19)
    static let temperature = BluetoothUUID(0x2a1c)
    static let temperatureType = BluetoothUUID(0x2a1d)
    static let measurementInterval = BluetoothUUID(0x2a21)
    static let currentTime = BluetoothUUID(0x2a2b)
    static let glucoseContext = BluetoothUUID(0x2a34)
    static let bloodPressure = BluetoothUUID(0x2a35)
    static let heartRate = BluetoothUUID(0x2a37)
    static let recordAccess = BluetoothUUID(0x2a52)
    static let spotCheck = BluetoothUUID(0x2a5e)
    static let continuous = BluetoothUUID(0x2a5f)
    static let compositionFeature = BluetoothUUID(0x2a9b)
    static let composition = BluetoothUUID(0x2a9c)
    static let weight = BluetoothUUID(0x2a9d)
    static let weightFeature = BluetoothUUID(0x2a9e)

    /// The stored weights of Mi scales: a characteristic of the maker (openScale, `BluetoothMiScale` and `BluetoothMiScale2`).
    static let miHistory = Set([BluetoothUUID("00002a2f-0000-3512-2118-0009af100700")].compactMap(\.self))
}
