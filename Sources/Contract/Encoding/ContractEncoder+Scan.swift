package import JSON
package import Vitals

extension JSONWriter {
    /// Writes what a scan has found: the `data` of the answer, and what the command `scan` prints as JSON.
    package mutating func members(of report: ScanReport) {
        member("devices", array: report.devices) { $0.element($1) }
        member("skipped", report.skipped)
        member("problems", array: report.problems) { writer, problem in
            writer.beginObject()
            writer.member("plugin", problem.plugin)
            writer.member("message", problem.message)
            writer.endObject()
        }
    }

    /// Writes a device in reach.
    mutating func element(_ device: ScanReport.Device) {
        beginObject()
        member("name", device.name)
        member("address", device.address)
        member("signal_dbm", device.signalStrength)
        member("driver", device.claims.first?.driver)
        member("claims", array: device.claims) { writer, claim in
            writer.beginObject()
            writer.member("driver", claim.driver)
            writer.member("by", claim.mark.rawValue)
            writer.endObject()
        }
        member("device", device.device?.text)
        member("connected", device.isConnected)
        member("services", texts: device.services)
        key("transport")
        beginObject()
        for option in device.transport {
            key(escaping: option.key)
            string(option.value)
        }
        endObject()
        member("note", device.note)
        endObject()
    }
}
