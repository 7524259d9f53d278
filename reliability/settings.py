"""All settings, read from the environment from top to bottom. The README's table of settings names each one."""

import os
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
import django_stubs_ext
from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP

from reliability.bootstrap import ROOT, data_dir
from reliability.environment import env_bool, env_choice, env_int, env_list, env_secret, env_url

django_stubs_ext.monkeypatch()  # makes Django's generic classes, such as ModelForm[Agent], exist at run time

BASE_DIR = ROOT
DATA_DIR = data_dir()
DEBUG = env_bool("DEBUG", False)
SECRET_KEY = env_secret("SECRET_KEY", DATA_DIR / "secret_key")
CONSULTANCY_NAME = os.getenv("CONSULTANCY_NAME") or "Reliability Snapshot"

# --- where people reach us
PUBLIC_URL = env_url(
    "PUBLIC_URL", f"http://127.0.0.1:{env_int('PORT', 8000, least=1, most=65535)}", schemes=("http", "https")
)
PUBLIC_HOST = urlsplit(PUBLIC_URL).hostname or ""
ALLOWED_HOSTS = [PUBLIC_HOST, "127.0.0.1", "localhost", "[::1]", *env_list("ALLOWED_HOSTS")]
CSRF_TRUSTED_ORIGINS = [f"{urlsplit(PUBLIC_URL).scheme}://{urlsplit(PUBLIC_URL).netloc}"]
SECURE_SSL = PUBLIC_URL.startswith("https:")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL
SECURE_HSTS_SECONDS = 31_536_000 if SECURE_SSL else 0
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
if env_bool("BEHIND_PROXY", False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
    "base-uri": [CSP.NONE],
}

# --- what it is made of
INSTALLED_APPS = [
    "reliability",
    "evals",
    "scorecards",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "django_htmx",
    "ninja",
]
MIDDLEWARE = [
    "reliability.middleware.problem_json_for_api",
    "reliability.middleware.refuse_large_forms",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "reliability.middleware.sign_in_again_for_htmx",
]
ROOT_URLCONF = "reliability.urls"
WSGI_APPLICATION = "reliability.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "reliability.context.site",
            ],
        },
    }
]

# --- database: one file until DATABASE_URL names a PostgreSQL
DATABASE_URL = env_url("DATABASE_URL", "sqlite://embedded", schemes=("postgres", "postgresql", "sqlite"))
DATABASES: dict[str, dict[str, Any]] = {}
if DATABASE_URL == "sqlite://embedded":
    DATABASES["default"] = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATA_DIR / "snapshot.sqlite3",
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL",
        },
    }
elif DATABASE_URL.startswith("sqlite"):
    raise ImproperlyConfigured("DATABASE_URL: leave it out for the embedded SQLite, or use postgres://…")
else:
    DATABASES["default"] = dict(dj_database_url.parse(DATABASE_URL, conn_max_age=600, conn_health_checks=True))
ATOMIC_REQUESTS = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- files
MEDIA_ROOT = os.getenv("MEDIA_ROOT") or str(DATA_DIR / "artifacts")
FILE_UPLOAD_TEMP_DIR = str(DATA_DIR / "incoming")  # beside the artifacts, so that storing one is a rename
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "reliability.uploads.TidyFileUploadHandler",
]
STATIC_URL = "/static/"
STATIC_ROOT = str(DATA_DIR / "static")
STATICFILES_DIRS = [ROOT / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = DEBUG

# --- limits of the import door
MAX_UPLOAD_MB = env_int("MAX_UPLOAD_MB", 300, least=1)  # bytes of one request's body
MAX_UNPACKED_MB = env_int("MAX_UNPACKED_MB", 2048, least=1)  # after undoing gzip
MAX_DOCUMENT_MB = env_int("MAX_DOCUMENT_MB", 300, least=1)  # of a format that is read as one document
MAX_EVIDENCE_MB = env_int("MAX_EVIDENCE_MB", 25, least=1)  # of one file attached to a score
MAX_LINE_MB = env_int("MAX_LINE_MB", 32, least=1)  # of one line of a format that is read line by line
MAX_ZIP_MEMBERS = env_int("MAX_ZIP_MEMBERS", 200_000, least=1)  # of an .eval file
MAX_NESTING = env_int("MAX_NESTING", 64, least=8, most=200)  # levels of a JSON value that is kept, and of XML
MAX_TEXT = env_int("MAX_TEXT", 20_000, least=1_000)  # characters of a text that is kept; longer ones are cut and marked
MAX_ROWS = env_int("MAX_ROWS", 5_000_000, least=1)  # attempts and evaluations of one artifact

# --- jobs: a real worker always; a folder is the broker until CELERY_BROKER_URL names one
CELERY_BROKER_URL = env_url(
    "CELERY_BROKER_URL", "filesystem://", schemes=("filesystem", "redis", "rediss", "amqp", "amqps")
)
if CELERY_BROKER_URL.startswith("filesystem"):
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
        "data_folder_in": str(DATA_DIR / "broker" / "queue"),
        "data_folder_out": str(DATA_DIR / "broker" / "queue"),
        "processed_folder": str(DATA_DIR / "broker" / "done"),
        "control_folder": str(DATA_DIR / "broker" / "control"),
        "store_processed": True,
        "polling_interval": 0.1,
    }
JOB_LEASE_SECONDS = env_int("JOB_LEASE_SECONDS", 60, least=2)
WORKER_NICE = env_int("WORKER_NICE", 5, least=0, most=19)
SWEEP_SECONDS = float(min(15, JOB_LEASE_SECONDS))
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = os.getenv("CELERY_QUEUE") or "snapshot"
CELERY_BEAT_SCHEDULE = {
    "sweep-imports": {
        "task": "evals.tasks.sweep_imports",
        "schedule": SWEEP_SECONDS,
        "options": {"expires": SWEEP_SECONDS},
    },
    "close-forgotten-runs": {
        "task": "evals.tasks.close_forgotten_runs",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
    "sweep-classes": {"task": "evals.tasks.sweep_classes", "schedule": 300.0, "options": {"expires": 300}},
    "sweep-reports": {
        "task": "scorecards.tasks.sweep_reports",
        "schedule": SWEEP_SECONDS,
        "options": {"expires": SWEEP_SECONDS},
    },
    "sweep-broker": {"task": "reliability.tasks.sweep_broker", "schedule": 600.0, "options": {"expires": 600}},
}
WEB_THREADS = env_int("WEB_THREADS", 8, least=2, most=256)

# --- people
AUTH_USER_MODEL = "reliability.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_ADAPTER = "reliability.auth.ClosedAccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "optional"
ACCOUNT_SESSION_REMEMBER = None
ACCOUNT_USER_DISPLAY = "reliability.auth.display_name"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not SECURE_SSL
MFA_TOTP_ISSUER = CONSULTANCY_NAME
INVITATION_DAYS = env_int("INVITATION_DAYS", 14, least=1, most=365)
TOKEN_DAYS = env_int("TOKEN_DAYS", 365, least=1, most=3650)

# --- mail: printed by the server until EMAIL_HOST is set
EMAIL_HOST_NAME = os.getenv("EMAIL_HOST", "")
MAILERS: dict[str, dict[str, Any]] = {"default": {"BACKEND": "django.core.mail.backends.console.EmailBackend"}}
if EMAIL_HOST_NAME:
    MAILERS["default"] = {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {
            "host": EMAIL_HOST_NAME,
            "port": env_int("EMAIL_PORT", 587, least=1, most=65535),
            "username": os.getenv("EMAIL_USER", ""),
            "password": env_secret("EMAIL_PASSWORD", DATA_DIR / "email_password"),
            "use_tls": env_bool("EMAIL_TLS", True),
        },
    }
DEFAULT_FROM_EMAIL = os.getenv("EMAIL_FROM") or f"{CONSULTANCY_NAME} <no-reply@{PUBLIC_HOST}>"

# --- language, time, logs
LANGUAGE_CODE = "en"
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
LOG_LEVEL = env_choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        "kombu.connection": {"level": "ERROR"},  # it warns that a folder has no host name
        "weasyprint.progress": {"propagate": False},  # a line for each page
        "fontTools": {"level": "WARNING"},
    },
}
