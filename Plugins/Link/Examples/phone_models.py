"""The models of the SDK's guides, as far as the app's side uses them. Property names are those of the guides, in Python's style."""

from dataclasses import dataclass, field
from typing import List, Optional, Union

# TSItemValueType
NORMAL, MAXIMUM, MINIMUM, RESTING = "normal", "maximum", "minimum", "resting"


@dataclass
class ValueItem:
    """TSHealthValueItem: what all values have. Times are seconds since 1970."""

    start_time: float
    end_time: float
    is_user_initiated: bool = False
    value_type: str = NORMAL


@dataclass
class HRValueItem(ValueItem):
    hr_value: int = 0  # bpm


@dataclass
class BPValueItem(ValueItem):
    systolic: int = 0  # mmHg
    diastolic: int = 0  # mmHg


@dataclass
class BOValueItem(ValueItem):
    oxy_value: int = 0  # per cent


@dataclass
class DailyModel:
    """TSHealthDailyModel. The lists ascend in time."""

    day_start_time: float
    manual_items: List[ValueItem]
    auto_items: List[ValueItem]

    def all_measured_items(self):
        return sorted(self.manual_items + self.auto_items, key=lambda item: item.start_time)


@dataclass
class HRDailyModel(DailyModel):
    max_hr_item: Optional[HRValueItem] = None
    min_hr_item: Optional[HRValueItem] = None
    resting_items: List[HRValueItem] = field(default_factory=list)


@dataclass
class BPDailyModel(DailyModel):
    max_systolic_item: Optional[BPValueItem] = None
    min_systolic_item: Optional[BPValueItem] = None
    max_diastolic_item: Optional[BPValueItem] = None
    min_diastolic_item: Optional[BPValueItem] = None


@dataclass
class BODailyModel(DailyModel):
    max_oxygen_item: Optional[BOValueItem] = None
    min_oxygen_item: Optional[BOValueItem] = None


@dataclass
class MonitorSchedule:
    enabled: bool
    start_time: int  # minutes from midnight
    end_time: int
    interval: int  # minutes, a multiple of five


@dataclass
class MonitorAlert:
    enabled: bool
    lower_limit: int  # UInt16 in the guides: whole numbers only, also of temperatures
    upper_limit: int


@dataclass
class MonitorBPAlert:
    enabled: bool
    systolic_lower_limit: int  # UInt8 in the guides: at most 255 mmHg
    systolic_upper_limit: int
    diastolic_lower_limit: int
    diastolic_upper_limit: int


@dataclass
class AutoMonitorConfigs:
    """Of blood oxygen, stress and temperature, and as TSAutoMonitorBPConfigs of blood pressure."""

    schedule: MonitorSchedule
    alert: Union[MonitorAlert, MonitorBPAlert, None] = None


@dataclass
class AutoMonitorHRConfigs:
    schedule: MonitorSchedule
    rest_hr_alert: Optional[MonitorAlert] = None
    exercise_hr_alert: Optional[MonitorAlert] = None
    exercise_hr_limit_max: int = 190  # bpm


@dataclass
class ActivityMeasureParam:
    duration: int = 60  # seconds


class SDKError(Exception):
    """Stands for NSError. The guides list no codes: these words are the fake's own, see `errors` in phone_translation.py."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
